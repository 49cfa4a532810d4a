//! Signs the bytes on standard input and posts them as a webhook delivery. Without an address it prints the signature.
//!
//!     WEBHOOK_SECRET=... cargo run --quiet https://.../api/v1/webhooks/partner < event.json

use std::env;
use std::error::Error;
use std::io::{Read, stdin};
use std::process::ExitCode;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use ureq::Agent;

/// API Gateway gives up after 30 seconds.
const TIMEOUT: Duration = Duration::from_secs(35);

/// The value of X-Webhook-Signature. The key is the secret's UTF-8 bytes, `body` the very bytes that are sent.
fn sign(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of any length");
    mac.update(body);
    hex::encode(mac.finalize().into_bytes())
}

/// The status and the text of the answer.
fn post(url: &str, secret: &str, body: &[u8]) -> Result<(u16, String), ureq::Error> {
    let agent: Agent = Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .http_status_as_error(false)
        // A redirect may turn a POST into a GET, whose 200 would mean nothing.
        .max_redirects(0)
        .build()
        .into();
    let mut response = agent
        .post(url)
        .header("Content-Type", "application/json")
        .header("X-Webhook-Signature", sign(secret, body))
        .send(body)?;
    let answer = response.body_mut().read_to_vec()?;
    // What stands in between may answer in any charset.
    let text = String::from_utf8_lossy(&answer).into_owned();
    Ok((response.status().as_u16(), text))
}

/// Whether the delivery was accepted, or the signature printed.
fn run() -> Result<bool, Box<dyn Error>> {
    let secret = env::var("WEBHOOK_SECRET").unwrap_or_default();
    if secret.is_empty() {
        return Err("WEBHOOK_SECRET is not set, or is not UTF-8".into());
    }
    let mut body = Vec::new();
    stdin().read_to_end(&mut body)?;

    let Some(url) = env::args().nth(1) else {
        println!("{}", sign(&secret, &body));
        return Ok(true);
    };
    let (status, answer) =
        post(&url, &secret, &body).map_err(|error| format!("No answer: {error}"))?;
    println!("{status} {answer}");
    Ok(status == 200)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
