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
    for error in chain(error) {
        if let Some(tls) = error.downcast_ref() {
            return tls_cause(tls);
        }
        if is_cut_off(error) {
            return "the connection was closed too early".to_owned();
        }
        innermost = error;
    }
    innermost.to_string()
}

/// Whether the other side could not prove who it is, or does not even try: that does not pass.
pub(super) fn is_lasting(error: &(dyn Error + 'static)) -> bool {
    use rustls::Error::{InvalidCertificate, InvalidMessage};
    let tls = chain(error).find_map(|error| error.downcast_ref());
    matches!(tls, Some(InvalidCertificate(_) | InvalidMessage(_)))
}

/// The error and all that it wraps, from the outermost to the innermost.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        // An I/O error names as its source what is the source of the error it wraps.
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
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
        E::BadSignature => "the certificate is not from the authority that it names".to_owned(),
        error => format!("the certificate is not valid: {error}"),
    }
}
