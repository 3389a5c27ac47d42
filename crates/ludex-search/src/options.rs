//! Options of searches, written as `uct:c=0.7,threads=2`.
//!
//! Each search has a struct of typed options, defined by
//! [`search_options!`](crate::search_options). The text is parsed once, on input; errors carry the
//! position of the mistake.

use std::fmt;
use std::ops::Range;

/// A mistake in the description of a search.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}, at byte {} of `{text}`", span.start)]
pub struct OptionError {
    /// The whole text.
    pub text: String,
    /// The bytes of the mistake.
    pub span: Range<usize>,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// One option, for help texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionInfo {
    /// The name before `=`.
    pub name: &'static str,
    /// The current value.
    pub value: String,
    /// The help text.
    pub help: &'static str,
}

/// A struct of options that can be set one by one.
pub trait Options {
    /// Sets one option.
    ///
    /// # Errors
    /// If there is no such option or its value is invalid; the message says which.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String>;

    /// Returns all options with their values.
    fn list(&self) -> Vec<OptionInfo>;
}

/// A value of an option.
pub trait OptionValue: Sized {
    /// Parses a value.
    ///
    /// # Errors
    /// If the text is not a value; the message lists what is allowed.
    fn read(text: &str) -> Result<Self, String>;

    /// Formats the value so that [`OptionValue::read`] reads it back.
    fn write(&self) -> String;
}

/// Sets the options of the text `name=value,…` that begins at byte `start` of `whole`.
///
/// A `name` alone means `name=yes`.
///
/// # Errors
/// The first invalid option, with its position.
pub fn read_into(options: &mut dyn Options, whole: &str, start: usize) -> Result<(), OptionError> {
    let mut at = start;
    for item in whole[start..].split(',') {
        let here = at..at + item.len();
        at = here.end + 1;
        let wrong = |message| OptionError { text: whole.into(), span: here.clone(), message };
        let (name, value) = item.split_once('=').unwrap_or((item, "yes"));
        options.set(name.trim(), value.trim()).map_err(wrong)?;
    }
    Ok(())
}

/// Returns the error message for an unknown option.
pub fn unknown_option(name: &str, known: &[OptionInfo]) -> String {
    let known: Vec<&str> = known.iter().map(|info| info.name).collect();
    match known[..] {
        [] => format!("there is no option `{name}`; this search has none"),
        _ => format!("there is no option `{name}`; there are {}", known.join(", ")),
    }
}

impl OptionValue for f64 {
    fn read(text: &str) -> Result<Self, String> {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
            _ => Err(format!("`{text}` is not a number of 0 or more")),
        }
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl OptionValue for usize {
    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("`{text}` is not a whole number of 0 or more"))
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl OptionValue for bool {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "yes" => Ok(true),
            "no" => Ok(false),
            _ => Err(format!("`{text}` is neither `yes` nor `no`")),
        }
    }

    fn write(&self) -> String {
        if *self { "yes".into() } else { "no".into() }
    }
}

/// Displays options as the user would write them.
pub struct Written<'a>(pub &'a [OptionInfo]);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, info) in self.0.iter().enumerate() {
            let before = if idx == 0 { "" } else { "," };
            write!(f, "{before}{}={}", info.name, info.value)?;
        }
        Ok(())
    }
}

/// Defines a struct of options with defaults. The doc comment of a field is its help text.
///
/// ```
/// ludex_search::search_options! {
///     /// Options of an example.
///     pub struct ExampleOptions {
///         /// exploration constant
///         c: f64 = 0.7,
///     }
/// }
/// use ludex_search::options::Options;
/// let mut options = ExampleOptions::default();
/// options.set("c", "1").expect("a number");
/// assert_eq!(options.c, 1.0);
/// assert!(options.set("d", "1").is_err());
/// ```
#[macro_export]
macro_rules! search_options {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(#[doc = $help:literal] $field:ident: $type:ty = $default:expr,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug)]
        $vis struct $name {
            $(#[doc = $help] pub $field: $type,)*
        }

        impl $name {
            /// The default of every option.
            pub const DEFAULT: Self = Self { $($field: $default,)* };
        }

        impl Default for $name {
            fn default() -> Self {
                Self::DEFAULT
            }
        }

        impl $crate::options::Options for $name {
            #[allow(unused_variables)]
            fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
                $(if name == stringify!($field) {
                    self.$field = $crate::options::OptionValue::read(value)
                        .map_err(|message| format!("{name}: {message}"))?;
                    return Ok(());
                })*
                Err($crate::options::unknown_option(name, &self.list()))
            }

            fn list(&self) -> Vec<$crate::options::OptionInfo> {
                vec![$($crate::options::OptionInfo {
                    name: stringify!($field),
                    value: $crate::options::OptionValue::write(&self.$field),
                    help: $help.trim(),
                },)*]
            }
        }
    };
}

/// Defines an enum over structs of options that implements `Options` itself.
#[macro_export]
macro_rules! options_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[doc = $help:literal])* $variant:ident($options:ty),)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug)]
        $vis enum $name {
            $($(#[doc = $help])* $variant($options),)*
        }

        $(impl From<$options> for $name {
            fn from(options: $options) -> Self {
                Self::$variant(options)
            }
        })*

        impl $crate::options::Options for $name {
            fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
                match self {
                    $(Self::$variant(options) => options.set(name, value),)*
                }
            }

            fn list(&self) -> Vec<$crate::options::OptionInfo> {
                match self {
                    $(Self::$variant(options) => options.list(),)*
                }
            }
        }
    };
}

/// Defines an enum of named values for an option.
#[macro_export]
macro_rules! option_names {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[doc = $help:literal])* $variant:ident = $text:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $name {
            $($(#[doc = $help])* $variant,)*
        }

        impl $crate::options::OptionValue for $name {
            fn read(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok(Self::$variant),)*
                    _ => Err(format!("`{text}` is none of {}", [$($text),*].join(", "))),
                }
            }

            fn write(&self) -> String {
                match self {
                    $(Self::$variant => $text.into(),)*
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    search_options! {
        /// For the tests.
        struct Example {
            /// a number
            c: f64 = 0.5,
            /// a switch
            dag: bool = true,
        }
    }

    #[test]
    fn options_are_read_and_written() {
        let mut options = Example::default();
        read_into(&mut options, "x:c=2,dag=no", 2).expect("good options");
        assert_eq!(options, Example { c: 2.0, dag: false });
        read_into(&mut options, "x:dag", 2).expect("a switch");
        assert!(options.dag);
        options.dag = false;
        assert_eq!(Written(&options.list()).to_string(), "c=2,dag=no");
    }

    #[test]
    fn a_wrong_option_has_a_place() {
        let mut options = Example::default();
        let error = read_into(&mut options, "x:c=2,dag=perhaps", 2).expect_err("a bad value");
        assert_eq!(error.span, 6..17);
        assert!(error.to_string().contains("neither `yes` nor `no`"), "{error}");
        let error = read_into(&mut options, "x:z=2", 2).expect_err("a bad name");
        assert!(error.to_string().contains("there are c, dag"), "{error}");
        assert!(read_into(&mut options, "x:c", 2).is_err());
        assert!(read_into(&mut options, "x:c=-1", 2).is_err());
        assert!(read_into(&mut options, "x:", 2).is_err());
    }
}
