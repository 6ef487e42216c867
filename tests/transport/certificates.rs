//! An authority made for a test, and what it vouches for.

use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;

pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        // Two authorities of one name would be told apart by their signatures only.
        let name = format!("authority {:x?}", &key.public_key_raw()[..8]);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        Authority { issuer: CertifiedIssuer::self_signed(params, key).unwrap() }
    }

    /// Writes its own certificate to a file and returns the path.
    pub fn write_to(&self, folder: &Path) -> String {
        let path = folder.join("authority.pem");
        fs_err::write(&path, self.issuer.pem()).unwrap();
        path.into_os_string().into_string().unwrap()
    }

    /// What a server for `host` needs, valid from and to the beginning of these years.
    pub fn vouch_for(&self, host: &str, years: (i32, i32)) -> Arc<ServerConfig> {
        let mut params = CertificateParams::new([host.to_owned()]).unwrap();
        params.not_before = date_time_ymd(years.0, 1, 1);
        params.not_after = date_time_ymd(years.1, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Arc::new(config)
    }
}
