//! What the go command assumes where nothing is set. This is the only place that names its servers.
//!
//! Source: `cmd/go/internal/cfg` (defaults), `cmd/go/internal/modfetch/key.go` (keys).

/// GOPROXY where it is unset or empty.
pub const GOPROXY: &str = "https://proxy.golang.org,direct";

/// GOSUMDB where it is unset or empty.
pub const GOSUMDB: &str = "sum.golang.org";

/// The base that `direct` stands for.
///
/// The go command would ask `https://golang.org/toolchain?go-get=1` where that module lives; this
/// is the answer, and it is a module proxy.
pub const DIRECT: &str = "https://go.dev/dl/mod";

/// The databases that GOSUMDB may give by name alone, each with its key.
pub const KNOWN_DATABASES: &[(&str, &str)] =
    &[("sum.golang.org", "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8")];

/// Values of GOSUMDB that stand for another one: the same database under an address that is
/// reachable inside mainland China.
pub const DATABASE_ALIASES: &[(&str, &str)] =
    &[("sum.golang.google.cn", "sum.golang.org https://sum.golang.google.cn")];

/// A head that a known database has signed, by the database's name. A log only grows: one that does
/// not contain this head is not that database, whatever it signs.
pub const KNOWN_HEADS: &[(&str, &str)] = &[(
    "sum.golang.org",
    "go.sum database tree\n\
     55649875\n\
     SYguAQfB2uSqQkrBN4DEuGej7YGwxKVlGFswF1yBGrg=\n\
     \n\
     — sum.golang.org Az3grrUtiH0M75PDwhxqtZ+F2Fy4gAFTwZkeZ1oZkxHCzaj7Nu0iVen7LlNRy6usF05uPY6fzE56og8AZayMJHNYNg4=\n",
)];
