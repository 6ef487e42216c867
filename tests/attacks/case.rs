//! Cases: what is done to an honest world, how the program must end, and what all of them check.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::golden;
use crate::scene::{Run, Scene};
use crate::world::{KNOWN, WANTED, World};

/// Cases of one group that run at a time; most of their time is spent waiting.
const AT_A_TIME: usize = 4;

type Arrange = dyn Fn(&mut Scene) + Send + Sync;
type Inspect = dyn Fn(&Scene, &Run) + Send + Sync;

/// One line of the table.
pub struct Case {
    name: &'static str,
    exit: i32,
    arrange: Box<Arrange>,
    /// What the case checks beyond what all cases check.
    inspect: Option<Box<Inspect>>,
    is_proven: bool,
    keeps: Keeps,
    drops_variables: bool,
}

/// What of the store an attack may change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeps {
    /// Nothing.
    All,
    /// What is remembered of the database; the case says how.
    AllButMemory,
}

fn case(
    name: &'static str,
    exit: i32,
    arrange: impl Fn(&mut Scene) + Send + Sync + 'static,
) -> Case {
    let arrange = Box::new(arrange);
    Case {
        name,
        exit,
        arrange,
        inspect: None,
        is_proven: false,
        keeps: Keeps::All,
        drops_variables: false,
    }
}

/// Somebody lies: exit code 1.
pub fn refused(name: &'static str, arrange: impl Fn(&mut Scene) + Send + Sync + 'static) -> Case {
    case(name, 1, arrange)
}

/// The command cannot be meant: exit code 2.
pub fn misused(name: &'static str, arrange: impl Fn(&mut Scene) + Send + Sync + 'static) -> Case {
    case(name, 2, arrange)
}

/// Network, disk or permission fails: exit code 3.
pub fn broken(name: &'static str, arrange: impl Fn(&mut Scene) + Send + Sync + 'static) -> Case {
    case(name, 3, arrange)
}

/// Nobody has it: exit code 4.
pub fn unpublished(
    name: &'static str,
    arrange: impl Fn(&mut Scene) + Send + Sync + 'static,
) -> Case {
    case(name, 4, arrange)
}

/// Odd, and no harm: exit code 0.
pub fn accepted(name: &'static str, arrange: impl Fn(&mut Scene) + Send + Sync + 'static) -> Case {
    Case { keeps: Keeps::AllButMemory, ..case(name, 0, arrange) }
}

impl Case {
    /// The proof holds, so the head that it came with is remembered; only what follows fails.
    pub fn after_the_proof(self) -> Self {
        Case { is_proven: true, keeps: Keeps::AllButMemory, ..self }
    }

    /// The memory itself is under attack, so what remains of it is for `then` to check.
    pub fn changes_memory(self) -> Self {
        Case { keeps: Keeps::AllButMemory, ..self }
    }

    /// The attack was on a setting of the scene's own, which the same command goes without.
    pub fn recovers_elsewhere(self) -> Self {
        Case { drops_variables: true, ..self }
    }

    /// Checks more, right after the attack.
    pub fn then(self, inspect: impl Fn(&Scene, &Run) + Send + Sync + 'static) -> Self {
        Case { inspect: Some(Box::new(inspect)), ..self }
    }

    fn run(&self, mut scene: Scene) -> String {
        (self.arrange)(&mut scene);
        let (all, without_memory) = (scene.snapshot(), scene.snapshot_without_memory());

        let run = scene.run();
        assert_eq!(run.exit, self.exit, "exit code: {run:?}");
        let is_detail = |line: &&str| line.is_empty() || line.starts_with("  ");
        assert!(run.details().iter().all(is_detail), "more than one line: {run:?}");
        scene.assert_no_litter(self.exit);
        scene.assert_installed(KNOWN);
        match (self.exit, self.keeps) {
            (0, _) => {}
            (_, Keeps::All) => assert_eq!(all.changes_to(&scene.snapshot()), ""),
            (_, Keeps::AllButMemory) => {
                assert_eq!(without_memory.changes_to(&scene.snapshot_without_memory()), "");
            }
        }
        if self.is_proven {
            assert_eq!(scene.remembered_head(), scene.head_now());
        }
        if let Some(inspect) = &self.inspect {
            inspect(&scene, &run);
        }
        self.recover(scene);
        golden::line(self.name, self.exit, run.message())
    }

    /// The attack ends, and the same command succeeds.
    fn recover(&self, mut scene: Scene) {
        scene.server.heal();
        scene.goproxy = scene.server.url();
        scene.gosumdb = crate::log::database_key().verifier().to_string();
        scene.wanted = WANTED.to_owned();
        if self.drops_variables {
            scene.variables.clear();
        }
        let run = scene.run();
        assert_eq!(run.exit, 0, "with an honest server: {run:?}");
        scene.assert_installed(WANTED);
        scene.assert_installed(KNOWN);
        scene.assert_no_litter(0);
    }
}

/// Runs the cases of a group and holds their messages against the list.
#[track_caller]
pub fn check(group: &str, cases: Vec<Case>) {
    let world = World::shared();
    let (next, lines) = (AtomicUsize::new(0), Mutex::new(vec![None; cases.len()]));
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some((place, case)) = next_of(&cases, &next) {
                    // A case that fails has said why by panicking; the others still have their say.
                    let run = || case.run(Scene::new(&world));
                    let line = catch_unwind(AssertUnwindSafe(run)).ok();
                    lines.lock().unwrap()[place] = line;
                }
            });
        }
    });
    let lines = lines.into_inner().unwrap();
    let failed: Vec<&str> =
        cases.iter().zip(&lines).filter(|(_, line)| line.is_none()).map(|(c, _)| c.name).collect();
    assert!(failed.is_empty(), "{group}: these cases failed, see above: {failed:#?}");
    golden::check(group, &lines.into_iter().flatten().collect::<Vec<_>>());
}

fn next_of<'a>(cases: &'a [Case], next: &AtomicUsize) -> Option<(usize, &'a Case)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    Some((place, cases.get(place)?))
}
