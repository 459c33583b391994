//! TFRecord, the framing of event files: length, its checksum, the data, its checksum.

use std::io::{self, Write};

pub(super) fn write(file: &mut impl Write, data: &[u8]) -> io::Result<()> {
    let length = (data.len() as u64).to_le_bytes();
    file.write_all(&length)?;
    file.write_all(&masked(&length).to_le_bytes())?;
    file.write_all(data)?;
    file.write_all(&masked(data).to_le_bytes())
}

/// What lies at the beginning of some bytes.
#[derive(Debug, PartialEq)]
pub(super) enum Next<'a> {
    /// A record, and what comes after it.
    Record(&'a [u8], &'a [u8]),
    /// Less than a record: nothing, or one that was never written to its end.
    End,
    /// A checksum does not match.
    Damaged,
}

pub(super) fn next(bytes: &[u8]) -> Next<'_> {
    let Some((head, rest)) = bytes.split_at_checked(12) else { return Next::End };
    let (length, checksum) = head.split_at(8);
    if masked(length).to_le_bytes() != checksum {
        return Next::Damaged;
    }
    let length = u64::from_le_bytes(length.try_into().expect("eight bytes"));
    let whole = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
    let Some((data, rest)) = whole else { return Next::End };
    let Some((checksum, rest)) = rest.split_at_checked(4) else { return Next::End };
    if masked(data).to_le_bytes() == checksum { Next::Record(data, rest) } else { Next::Damaged }
}

/// The format's own twist of CRC-32C.
fn masked(data: &[u8]) -> u32 {
    crc32c::crc32c(data).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_every_damage_is_noticed() {
        let mut bytes = Vec::new();
        write(&mut bytes, b"first").unwrap();
        let first = bytes.len();
        write(&mut bytes, b"").unwrap();
        let Next::Record(data, rest) = next(&bytes) else { panic!("a record") };
        assert_eq!((data, rest), (&b"first"[..], &bytes[first..]));
        assert_eq!(next(rest), Next::Record(b"", b""));
        assert!((0..first).all(|length| next(&bytes[..length]) == Next::End));
        for at in 0..first {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(next(&damaged), Next::Damaged, "byte {at}");
        }
    }
}
