#!/usr/bin/env bash
# Installs what is missing to build and test TileDialect, and nothing else:
# Debian packages (as root or with sudo), and Python packages in .venv.
# A second call changes nothing and takes about a second.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

PACKAGES=(
  ccache cmake ninja-build
  clang-22 clang-format-22 clang-tidy-22 lld-22
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  libcurl4-openssl-dev libedit-dev libxml2-dev libzstd-dev zlib1g-dev
  libgtest-dev libgmock-dev
  python3-dev python3-venv
)

# One wheel holds both ptxas and libdevice; this version assembles all PTX that
# we emit (up to 8.8), for every chip of lib/Target/ChipInfo.cpp.
TOOLKIT_PACKAGE=nvidia-cuda-nvcc-cu12==12.9.86

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "installing packages needs root: run this as root or install sudo"
  fi
}

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

install_packages() {
  local missing=() package
  for package in "${PACKAGES[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null ||
    die "this script installs packages with apt-get, on Debian or Ubuntu; missing here: ${missing[*]}"

  say "installing ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  for package in "${missing[@]}"; do
    if ! apt-cache show "$package" >/dev/null 2>&1; then
      die "no repository of this machine has the package $package.
  LLVM 22 is in Debian 12 (with its security updates) and newer. For other
  distributions https://apt.llvm.org says how to add LLVM's own packages; this
  script adds no repository by itself."
    fi
  done
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

make_venv() {
  [ -x "$VENV/bin/python3" ] && "$VENV/bin/python3" -c 'import pip' 2>/dev/null && return
  say "creating $VENV"
  rm -rf "$VENV"
  # Debian's python3 has venv through python3-venv; another python3 that comes
  # first on PATH may be built without it.
  if ! python3 -m venv "$VENV" 2>/dev/null; then
    rm -rf "$VENV"
    /usr/bin/python3 -m venv "$VENV"
  fi
}

# Installs the Python packages that `import` does not find.
install_python_packages() {
  local package
  for package in hypothesis nanobind numpy pytest rich; do
    python -c "import $package" 2>/dev/null || missing_python+=("$package")
  done
  [ ${#missing_python[@]} -gt 0 ] || return 0
  say "installing ${missing_python[*]} in $VENV"
  python -m pip install -q --disable-pip-version-check "${missing_python[@]}"
}

# ptxas and libdevice of an installed CUDA toolkit serve if they are new enough.
has_toolkit() {
  local ptxas release
  ptxas=$(find_ptxas)
  [ -n "$ptxas" ] || return 1
  release=$("$ptxas" --version | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p')
  [ "$(printf '%s\n12.9\n' "$release" | sort -V | head -n 1)" = 12.9 ] || return 1
  [ -e /usr/local/cuda/nvvm/libdevice/libdevice.10.bc ] ||
    compgen -G "$VENV/lib/python3*/site-packages/nvidia/*/nvvm/libdevice/libdevice.10.bc" >/dev/null
}

install_toolkit() {
  has_toolkit && return
  say "installing ptxas and libdevice ($TOOLKIT_PACKAGE) in $VENV"
  # --no-deps: the rest of the toolkit is not needed.
  python -m pip install -q --disable-pip-version-check --no-deps "$TOOLKIT_PACKAGE" ||
    die "ptxas could not be installed; PTX is still built and emulated without it"
}

install_packages
make_venv
missing_python=()
install_python_packages
install_toolkit
