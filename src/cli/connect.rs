//! Connects to a host that may have several addresses: `localhost` usually has `::1` and
//! `127.0.0.1`, and a server may listen at one of them only.

use bellwether::net::clock::{BootTime, Clock};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// A connection to the first address of this `HOST:PORT` that accepts one, within this time from
/// the moment at which the name is known.
pub(in crate::cli) fn connect(place: &str, within: Duration) -> io::Result<TcpStream> {
    let places: Vec<SocketAddr> = place.to_socket_addrs()?.collect();
    connect_to_any(&places, within)
}

/// An address that does not answer at all leaves time for those after it: each may take an equal
/// part of the time that is left.
fn connect_to_any(places: &[SocketAddr], within: Duration) -> io::Result<TcpStream> {
    let began = BootTime.now();
    let mut failure = io::Error::other("its host has no address");
    for (place, after) in places.iter().zip((0..places.len() as u32).rev()) {
        let took = Duration::from_nanos(BootTime.now().since(began).as_nanos());
        let left = within.saturating_sub(took) / (after + 1);
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        match TcpStream::connect_timeout(place, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    const SOON: Duration = Duration::from_secs(10);

    #[test]
    fn a_server_at_a_later_address_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap();
        let port = place.port();
        let closed = ["[::1]", "127.0.0.2"].map(|host| format!("{host}:{port}").parse().unwrap());
        let found = connect_to_any(&[closed[0], closed[1], place], SOON).unwrap();
        assert_eq!(found.peer_addr().unwrap(), place);
        let found = connect(&format!("localhost:{port}"), SOON).unwrap();
        assert_eq!(found.peer_addr().unwrap(), place);
        let refused = connect_to_any(&closed, SOON).unwrap_err();
        assert_ne!(refused.kind(), ErrorKind::TimedOut);
        assert!(connect_to_any(&[], SOON).is_err());
    }

    #[test]
    fn without_time_nothing_is_tried() {
        let place = "127.0.0.1:1".parse().unwrap();
        let late = connect_to_any(&[place], Duration::ZERO).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::TimedOut);
    }
}
