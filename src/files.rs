//! A file that holds all that was written to it, or what it held before.

use std::fs::File;
use std::io::{Error, ErrorKind, Write};
use std::path::Path;

/// Writes to a sibling temporary file, which is renamed into place. Where that could not be done, `content` is not asked
/// for, which may have taken hours to make.
///
/// # Errors
/// Those of `content`; a path that names no file: a folder, a device, a text without a name in it; a folder that is not
/// there or cannot be written to.
pub(crate) fn replace<E: From<Error>>(
    path: &Path,
    content: impl FnOnce(&File) -> Result<(), E>,
) -> Result<(), E> {
    check_replaceable(path)?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)] // the default would hide the file from the user's group; the umask still applies
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let temporary = builder.prefix(".parsynth-").tempfile_in(folder)?;
    content(temporary.as_file())?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    // The new name outlives a power cut once its folder is synced, which not every file system can do.
    #[cfg(unix)]
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// [`replace`] with a text.
pub(crate) fn write_text(path: &Path, text: &str) -> std::io::Result<()> {
    replace(path, |mut file| file.write_all(text.as_bytes()))
}

/// Refuses a path to which no file could be renamed.
fn check_replaceable(path: &Path) -> std::io::Result<()> {
    let refusal = |reason: &str| Err(Error::new(ErrorKind::InvalidInput, reason));
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => refusal("it is a folder; give the name of a file in it"),
        Ok(found) if !found.is_file() => refusal(
            "it is no file but a device or a pipe, whose place a file would take; give the name of a file",
        ),
        Ok(_) => Ok(()),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        Err(_) if path.file_name().is_none() || has_trailing_separator(path) => {
            refusal("it names no file")
        }
        Err(_) => match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no folder {}; make it first", folder.display()),
            )),
            _ => Ok(()),
        },
    }
}

fn has_trailing_separator(path: &Path) -> bool {
    path.to_string_lossy().ends_with(std::path::is_separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_file_can_be_renamed_to_is_told_before_the_content_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| {
            let made = replace(path, |_| -> std::io::Result<()> { panic!("was made") });
            made.unwrap_err().to_string()
        };
        assert!(refused(folder.path()).contains("it is a folder"));
        assert!(refused(Path::new("")).contains("it names no file"));
        assert!(refused(&folder.path().join("new/")).contains("it names no file"));
        let nowhere = refused(&folder.path().join("nowhere/file.csv"));
        assert!(
            nowhere.contains("there is no folder ") && nowhere.ends_with("nowhere; make it first")
        );
        #[cfg(unix)]
        for path in [Path::new("/dev/null"), &folder.path().join("x".repeat(300))] {
            refused(path);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_content_that_fails_leaves_the_file_before_and_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_text(&path, "old").unwrap();
        let failed = replace(&path, |mut file| {
            file.write_all(b"half")?;
            Err(Error::other("no more"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "no more");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
