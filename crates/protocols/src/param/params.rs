//! `params!`: a configuration and the table of its parameters, from one description.

/// Makes the struct, its default, and the table of its parameters ([`Described`]).
///
/// Each field is one parameter. Its documentation is the help: the first paragraph, which is one
/// sentence; further paragraphs are for readers of the source alone. Its type is the kind of its
/// values ([`ParamType`]). What follows the type is its default (that of the type, if there is
/// none), and then what else the table says of it, by the methods of [`Param`]. The struct is
/// written with serde, so it derives `Serialize` and `Deserialize`, and what [`Described`] needs.
/// A family of protocols with one table has `of Variant` after the name of the struct.
///
/// ```
/// use bellwether_core::Duration;
/// use bellwether_protocols::param::Described;
/// use serde::{Deserialize, Serialize};
///
/// bellwether_protocols::params! {
///     /// What a person writes.
///     #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
///     pub struct Config {
///         /// A peer silent for this long is given up.
///         give_up: Duration = Duration::from_secs(3), is("3s"), within("0 < give-up");
///         /// How often a message is sent.
///         ///
///         /// This paragraph is no part of the help.
///         tries: Option<u32>, follows("5");
///     }
/// }
///
/// let [silence, tries] = Config::PARAMS else { unreachable!() };
/// assert_eq!(silence.name, "give-up");
/// assert_eq!(silence.help, "a peer silent for this long is given up");
/// assert_eq!((tries.name, tries.help), ("tries", "how often a message is sent"));
/// assert_eq!(Config::default(), Config { give_up: Duration::from_secs(3), tries: None });
/// ```
///
/// [`Described`]: crate::param::Described
/// [`ParamType`]: crate::param::ParamType
/// [`Param`]: crate::param::Param
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        $vis:vis struct $Config:ident $(of $Variant:ty)? {
            $(
                $(#[doc = $doc:literal])+
                $(#[formerly = $formerly:literal])?
                $field:ident: $Type:ty $(= $default:expr)? $(, $rule:ident($($word:tt)*))*;
            )+
        }
    ) => {
        $(#[$meta])*
        #[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
        $vis struct $Config {
            $(
                /// The member of the family; a file names it next to the parameters, not among
                /// them.
                #[serde(skip)]
                $vis variant: $Variant,
            )?
            $(
                $(#[doc = $doc])+
                $(#[serde(alias = $formerly)])?
                $vis $field: $Type,
            )+
        }

        impl Default for $Config {
            fn default() -> Self {
                Self {
                    $(variant: <$Variant>::default(),)?
                    $($field: $crate::params!(@default $($default)?),)+
                }
            }
        }

        impl $crate::param::Described for $Config {
            const PARAMS: &'static [$crate::param::Param] = &[$({
                const NAME: &[u8] = &$crate::param::text::kebab::<{ stringify!($field).len() }>(
                    stringify!($field),
                );
                const DOC: &str = concat!($($doc, "\n"),+);
                const HELP: &[u8] = &$crate::param::text::help::<
                    { $crate::param::text::help_length(DOC) },
                >(DOC);
                let (name, help) =
                    ($crate::param::text::str(NAME), $crate::param::text::str(HELP));
                $crate::param::Param::of::<$Type>(name, help)
                    $(.formerly($formerly))?
                    $(.$rule($($word)*))*
            }),+];

            $crate::params!(@variant $($Variant)?);
        }
    };
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };
    (@variant) => {
        type Variant = ();

        fn variant(&self) {}

        fn member(&self) -> &'static str {
            ""
        }

        fn of(self, (): ()) -> Self {
            self
        }
    };
    (@variant $Variant:ty) => {
        type Variant = $Variant;

        fn variant(&self) -> $Variant {
            self.variant
        }

        fn member(&self) -> &'static str {
            self.variant.name()
        }

        fn of(self, variant: $Variant) -> Self {
            Self { variant, ..self }
        }
    };
}
