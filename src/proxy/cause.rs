//! What went wrong with a connection, in words for the one who waits.

use std::error::Error;
use std::io;

use rustls::CertificateError;

/// Says why a request failed, from the innermost error that knows.
///
/// The innermost says what happened ("Connection refused"); those around it, who noticed. Where the
/// innermost speaks to programmers, other words are found.
pub(super) fn cause(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    let mut error = Some(error);
    while let Some(current) = error {
        if let Some(tls) = find_tls(current) {
            return tls_cause(tls);
        }
        if is_cut_off(current) {
            return "the connection was closed too early".to_owned();
        }
        innermost = current;
        error = current.source();
    }
    innermost.to_string()
}

/// An I/O error shows what it wraps only when asked for it: it is not in the chain of sources.
fn find_tls<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    if let Some(error) = error.downcast_ref() {
        return Some(error);
    }
    let wrapped = error.downcast_ref::<io::Error>()?.get_ref()?;
    find_tls(wrapped)
}

fn is_cut_off(error: &(dyn Error + 'static)) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    kind == Some(io::ErrorKind::UnexpectedEof)
}

fn tls_cause(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(error) => certificate_cause(error),
        rustls::Error::InvalidMessage(_) => {
            "what answers there does not speak TLS; is it an http address?".to_owned()
        }
        rustls::Error::AlertReceived(alert) => format!("the server ends TLS with {alert:?}"),
        error => format!("TLS failed: {error}"),
    }
}

fn certificate_cause(error: &CertificateError) -> String {
    use CertificateError as E;
    match error {
        E::UnknownIssuer => "the certificate is from an authority that this machine does not \
             trust; if it is yours, name a file with its certificate in SSL_CERT_FILE"
            .to_owned(),
        E::Expired | E::ExpiredContext { .. } => {
            "the certificate has expired, or the clock of this machine is wrong".to_owned()
        }
        E::NotValidYet | E::NotValidYetContext { .. } => {
            "the certificate is not valid yet, or the clock of this machine is wrong".to_owned()
        }
        E::NotValidForName => "the certificate is for another host".to_owned(),
        E::NotValidForNameContext { expected, presented } => format!(
            "the certificate is for another host: it names {}, not {}",
            presented.join(", "),
            expected.to_str()
        ),
        error => format!("the certificate is not valid: {error}"),
    }
}
