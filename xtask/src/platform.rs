//! The wheels that make up a CPU libtorch, per platform, each pinned by its hash.
//! One fixed wheel per platform, whatever the user's Python: only the C++ half of it is used.

use crate::check::LIBTORCH_VERSION;
use crate::context::Problem;

/// One file on the package index.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// `name==version`, as pip reads it.
    pub(crate) requirement: &'static str,
    pub(crate) sha256: &'static str,
}

/// What is fetched for one platform.
#[derive(Debug)]
pub(crate) struct Platform {
    pub(crate) os: &'static str,
    pub(crate) arch: &'static str,
    /// pip's names of the platform, the wheels' own included.
    pub(crate) tags: &'static [&'static str],
    pub(crate) wheels: &'static [Wheel],
    /// Bytes over the network, in MB.
    pub(crate) download_mb: u64,
    /// Bytes on disk while wheels and their content lie side by side, in MB.
    pub(crate) space_mb: u64,
}

/// Python version of the wheels named here.
pub(crate) const PYTHON_TAG: &str = "3.11";

const PLATFORMS: &[Platform] = &[
    Platform {
        os: "linux",
        arch: "x86_64",
        tags: &[
            "manylinux_2_28_x86_64",
            "manylinux_2_25_x86_64",
            "manylinux_2_17_x86_64",
            "manylinux2014_x86_64",
        ],
        wheels: &[
            Wheel {
                requirement: "torch==2.13.0",
                sha256: "60fcdcb2f3876e21146cb4524ef06397d727ca9ad5f020818547e25075fe3cb7",
            },
            // libtorch_cpu of this wheel is linked against these two, CUDA device or not.
            Wheel {
                requirement: "nvidia-cuda-runtime==13.0.96",
                sha256: "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
            },
            Wheel {
                requirement: "nvidia-cuda-cupti==13.0.85",
                sha256: "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8",
            },
        ],
        download_mb: 540,
        space_mb: 1_900,
    },
    Platform {
        os: "linux",
        arch: "aarch64",
        tags: &[
            "manylinux_2_28_aarch64",
            "manylinux_2_25_aarch64",
            "manylinux_2_17_aarch64",
            "manylinux2014_aarch64",
        ],
        wheels: &[
            Wheel {
                requirement: "torch==2.13.0",
                sha256: "092790c696a760c729fd5722835f50b9d81fd7c8f141571f3f3cf4081a8f664c",
            },
            Wheel {
                requirement: "nvidia-cuda-runtime==13.0.96",
                sha256: "ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55",
            },
            Wheel {
                requirement: "nvidia-cuda-cupti==13.0.85",
                sha256: "796bd679890ee55fb14a94629b698b6db54bcfd833d391d5e94017dd9d7d3151",
            },
        ],
        download_mb: 440,
        space_mb: 1_500,
    },
    Platform {
        os: "macos",
        arch: "aarch64",
        tags: &["macosx_14_0_arm64"],
        wheels: &[Wheel {
            requirement: "torch==2.13.0",
            sha256: "e76f9bcecc52b8ff711239a2f7547d5353df95878ab232f0773c1d95928b92f8",
        }],
        download_mb: 110,
        space_mb: 700,
    },
    Platform {
        os: "windows",
        arch: "x86_64",
        tags: &["win_amd64"],
        wheels: &[Wheel {
            requirement: "torch==2.13.0",
            sha256: "a0d8b11f16a48d60e2015d8213aa0390744cbebb98e58b62b3514dddc656e330",
        }],
        download_mb: 120,
        space_mb: 700,
    },
];

/// The platform's wheels.
///
/// # Errors
/// None are published: an Intel Mac, musl, any other processor.
pub(crate) fn find(os: &str, arch: &str, musl: bool) -> Result<&'static Platform, Problem> {
    let found = PLATFORMS
        .iter()
        .find(|platform| (platform.os, platform.arch) == (os, arch) && !musl);
    found.ok_or_else(|| {
        let supported: Vec<_> = PLATFORMS.iter().map(|platform| format!("{} {}", platform.os, platform.arch)).collect();
        let libc = if musl { " with musl" } else { "" };
        Problem::new(format!(
            "no libtorch {LIBTORCH_VERSION} is published for {os} {arch}{libc}, only for {}; set LIBTORCH to one you built",
            supported.join(", ")
        ))
    })
}

impl Platform {
    /// The folder's name in the cache.
    pub(crate) fn name(&self) -> String {
        format!("libtorch-{LIBTORCH_VERSION}-{}-{}", self.os, self.arch)
    }

    /// What pip installs, and nothing else: pip compares the hashes itself.
    pub(crate) fn requirements(&self) -> String {
        self.wheels
            .iter()
            .map(|wheel| format!("{} --hash=sha256:{}\n", wheel.requirement, wheel.sha256))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wheel_is_pinned_and_torch_is_the_version_tch_wants() {
        for platform in PLATFORMS {
            assert_eq!(
                platform.wheels[0].requirement,
                format!("torch=={LIBTORCH_VERSION}")
            );
            for wheel in platform.wheels {
                assert!(
                    wheel.sha256.len() == 64
                        && wheel.sha256.bytes().all(|byte| byte.is_ascii_hexdigit())
                );
            }
        }
    }

    #[test]
    fn an_unsupported_platform_is_told_which_are() {
        for (os, arch, musl) in [
            ("macos", "x86_64", false),
            ("linux", "riscv64", false),
            ("linux", "x86_64", true),
        ] {
            let problem = find(os, arch, musl).expect_err("no such wheel").to_string();
            assert!(
                problem.contains(&format!("for {os} {arch}")) && problem.contains("macos aarch64"),
                "{problem}"
            );
        }
    }
}
