//! Lists that grow by one line.

/// Declares the modules below this one, and lists what each of them calls `ENTRY`.
macro_rules! registry {
    ($entry:ident: $($module:ident;)+) => {
        $(mod $module;)+

        /// Every entry, in the order of listings.
        pub static ALL: &[&$entry] = &[$(&$module::ENTRY),+];
    };
}
