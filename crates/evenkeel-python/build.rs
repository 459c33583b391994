//! What a linker needs where an extension module may have symbols that are still unknown (macOS).

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
