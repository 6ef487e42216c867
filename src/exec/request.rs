//! A command in the form in which it goes to the launcher.

use std::os::unix::ffi::OsStrExt;

use super::protocol::{FLOOR, MESSAGE_LIMIT, RUN, Request, STRINGS_LIMIT};
use super::{Command, ExecError};

/// Writes the message that asks for `command` to be run.
///
/// # Errors
///
/// [`ExecError::Unusable`] if the kernel or the launcher could not take it: a NUL byte in a
/// string, a variable without a name or with `=` in it, too many or too long strings.
pub fn run_message(command: &Command) -> Result<Vec<u8>, ExecError> {
    let unusable = |reason| ExecError::Unusable { program: command.program.clone(), reason };
    if let Some((name, _)) =
        command.env.iter().find(|(name, _)| name.is_empty() || name.contains('='))
    {
        return Err(unusable(format!("{name:?} cannot name an environment variable")));
    }
    let variables: Vec<String> =
        command.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let arguments = 1 + command.args.len();
    if arguments + variables.len() > STRINGS_LIMIT {
        return Err(unusable(format!(
            "{arguments} arguments and {} environment variables are more than {STRINGS_LIMIT} together",
            variables.len()
        )));
    }

    let program = command.program.as_os_str().as_bytes();
    let strings = [command.cwd.as_os_str().as_bytes(), program, program]
        .into_iter()
        .chain(command.args.iter().map(|argument| argument.as_bytes()))
        .chain(variables.iter().map(|variable| variable.as_bytes()));
    let mut message = fixed_part(command, arguments, variables.len()).to_bytes().to_vec();
    for string in strings {
        if string.contains(&0) {
            return Err(unusable("a string in it has a NUL byte".to_owned()));
        }
        message.extend_from_slice(string);
        message.push(0);
    }
    if message.len() > MESSAGE_LIMIT {
        return Err(unusable(format!(
            "arguments and environment take {} bytes, at most {MESSAGE_LIMIT} are possible",
            message.len()
        )));
    }
    Ok(message)
}

fn fixed_part(command: &Command, arguments: usize, variables: usize) -> Request {
    Request {
        kind: RUN,
        arguments: arguments as u64,
        variables: variables as u64,
        // The kernel takes 0 for "no limit". An hour more or less at the far end changes nothing.
        time_limit_us: u64::try_from(command.time_limit.as_micros()).unwrap_or(u64::MAX).max(1),
        output_limit: command.output_limit,
    }
}

/// Writes the message that asks for the floor of the peak memory.
pub fn floor_message() -> Vec<u8> {
    Request { kind: FLOOR, ..Request::default() }.to_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::exec::Stdin;
    use crate::exec::protocol::{Reply, Step};

    fn command() -> Command {
        Command {
            program: "/p".into(),
            args: vec!["a".into(), "".into()],
            env: vec![("N".into(), "v".into())],
            cwd: "/d".into(),
            stdin: Stdin::Null,
            time_limit: Duration::from_millis(5),
            output_limit: 7,
        }
    }

    #[test]
    fn a_message_is_the_fixed_part_and_the_strings() {
        let message = run_message(&command()).unwrap();
        let request = Request::from_bytes(&message).unwrap();
        let expected =
            Request { kind: RUN, arguments: 3, variables: 1, time_limit_us: 5000, output_limit: 7 };
        assert_eq!(request, expected);
        assert_eq!(&message[Request::SIZE..], b"/d\0/p\0/p\0a\0\0N=v\0");
    }

    #[test]
    fn time_limits_at_both_ends_stay_limits() {
        let limit = |time_limit| {
            let message = run_message(&Command { time_limit, ..command() }).unwrap();
            Request::from_bytes(&message).unwrap().time_limit_us
        };
        assert_eq!(limit(Duration::ZERO), 1);
        assert_eq!(limit(Duration::MAX), u64::MAX);
    }

    #[test]
    fn what_cannot_be_handed_to_the_kernel_is_refused_with_the_reason() {
        let env = |name: &str| vec![(name.to_owned(), String::new())];
        let args = |count| vec![OsString::from("x"); count];
        let refused = [
            Command { env: env(""), ..command() },
            Command { env: env("A=B"), ..command() },
            Command { env: env("A\0"), ..command() },
            Command { args: args(STRINGS_LIMIT - 1), ..command() },
            Command { args: vec!["x".repeat(MESSAGE_LIMIT).into()], ..command() },
        ];
        let reasons: Vec<String> = refused
            .iter()
            .map(|command| match run_message(command).unwrap_err() {
                ExecError::Unusable { reason, .. } => reason,
                other => panic!("{other}"),
            })
            .collect();
        insta::assert_snapshot!(reasons.join("\n"), @r#"
        "" cannot name an environment variable
        "A=B" cannot name an environment variable
        a string in it has a NUL byte
        2048 arguments and 1 environment variables are more than 2048 together
        arguments and environment take 131126 bytes, at most 131072 are possible
        "#);
    }

    #[test]
    fn steps_are_read_back() {
        for step in Step::ALL {
            assert_eq!(Step::from_number(step as u64), Some(step));
        }
        assert_eq!(Step::from_number(0), None);
        assert_eq!(Step::from_number(Step::ALL.len() as u64 + 1), None);
    }

    proptest! {
        #[test]
        fn replies_are_read_back(verdict: u64, errno: u64, involuntary_switches: u64) {
            let reply = Reply { verdict, errno, involuntary_switches, ..Reply::default() };
            let bytes = reply.to_bytes();
            prop_assert_eq!(Reply::from_bytes(&bytes), Some(reply));
            prop_assert_eq!(Reply::from_bytes(&bytes[1..]), None);
        }
    }
}
