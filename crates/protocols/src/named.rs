//! Values that have a name: each variant's name and its meaning are written once.

#[doc(hidden)]
pub use alloc::string::String;

/// An enumeration made by [`named!`](crate::named!).
pub trait Named: Copy + PartialEq + 'static {
    /// All values.
    const ALL: &'static [Self];

    /// Their names and what they mean, in the same order.
    const CHOICES: &'static [(&'static str, &'static str)];

    /// The value of this name.
    fn of_name(name: &str) -> Option<Self> {
        let place = Self::CHOICES.iter().position(|(known, _)| *known == name)?;
        Self::ALL.get(place).copied()
    }
}

/// An enumeration of which files, tables, results and errors know the same names.
///
/// The first value after `=` is the default, if there is one. The documentation of a variant is
/// its help.
#[macro_export]
macro_rules! named {
    (
        $(#[$meta:meta])*
        pub enum $Type:ident $(= $Default:ident)? {
            $($(#[doc = $help:literal])+ $Variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $Type {
            $($(#[doc = $help])+ $Variant,)+
        }

        impl $Type {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Variant),+];

            /// Their names and what they mean.
            pub const CHOICES: &'static [(&'static str, &'static str)] =
                &[$(($name, concat!($($help),+).trim_ascii())),+];

            /// Its name in files and results.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name,)+
                }
            }
        }

        impl $crate::named::Named for $Type {
            const ALL: &'static [Self] = &Self::ALL;
            const CHOICES: &'static [(&'static str, &'static str)] = Self::CHOICES;
        }

        impl core::fmt::Display for $Type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl $crate::param::ParamType for $Type {
            const KIND: $crate::param::Kind = $crate::param::Kind::OneOf(Self::CHOICES);
        }

        $(impl Default for $Type {
            fn default() -> Self {
                Self::$Default
            }
        })?

        impl serde::Serialize for $Type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let name = <$crate::named::String as serde::Deserialize>::deserialize(from)?;
                let known = <Self as $crate::named::Named>::of_name(&name);
                let names = &[$($name),+];
                known.ok_or_else(|| serde::de::Error::unknown_variant(&name, names))
            }
        }
    };
}
