/** Numbers of the system calls that the helper makes, where they differ between processors. */
export const helperCalls = {
  x64: { prctl: 157, capset: 126, setgroups: 116, setresgid: 119, setresuid: 117 },
  arm64: { prctl: 167, capset: 91, setgroups: 159, setresgid: 149, setresuid: 147 },
} as const;

/** Rights to files as Landlock numbers them. Devices are never made, so those two are granted nowhere. */
export const landlockRights = {
  /** Read and run, list folders. */
  run: 0x1 | 0x4 | 0x8,
  read: 0x4 | 0x8,
  /** Everything but making devices. */
  all: 0xffff & ~0x40 & ~0x800,
  readWriteFile: 0x2 | 0x4 | 0x4000,
  runFile: 0x1 | 0x4,
} as const;

/**
 * A program in Perl, which Debian counts as essential: it shuts itself in and becomes the command. Its arguments: numbers of the system
 * calls, the filter of system calls (hex), `keep` or the number of the user to become, and the rules (`rights:path in hex`); then the
 * command. It opens everything before it gives its rights up, and ends with 125 and a line on standard error where a step fails.
 *
 * A root that works in a workspace of root becomes nobody, and keeps the one right to write files of others: what it opens is held by
 * Landlock, and what it makes is not root's.
 */
export const landlockHelper = String.raw`
use strict;
my ($calls, $filter, $user, $rules) = splice(@ARGV, 0, 4);
my ($prctl, $capset, $setgroups, $setresgid, $setresuid) = map { $_ + 0 } split(/,/, $calls);
sub stop { print STDERR "$_[0]: $!\n"; exit 125 }
sub must { my ($what, $got) = @_; stop($what) if $got == -1; return $got }

my $abi = syscall(444, 0, 0, 1);
if ($abi < 4) { print STDERR "Landlock " . ($abi < 0 ? "is not there: $!" : "has version $abi, and 4 is needed") . "\n"; exit 125 }
my $handled = $abi >= 5 ? 0xffff : 0x7fff;
my $attributes = pack("QQ", $handled, 3) . ($abi >= 6 ? pack("Q", 3) : "");
my $set = must("landlock_create_ruleset", syscall(444, $attributes, length($attributes), 0));
for my $rule (split(/,/, $rules)) {
  my ($rights, $hex) = split(/:/, $rule);
  my $path = pack("H*", $hex);
  sysopen(my $place, $path, 0x200000) or stop("open $path");
  my $beneath = pack("Ql", ($rights + 0) & $handled, fileno($place));
  must("landlock_add_rule $path", syscall(445, $set, 1, $beneath, 0));
}

my $kept = 0;
if ($user ne "keep") {
  my $id = $user + 0;
  $kept = 2;
  # SECURE_NO_SETUID_FIXUP: a change of user leaves rights alone, and access() counts them too.
  must("keep rights", syscall($prctl, 28, 4, 0, 0, 0));
  for my $right (0 .. 63) { syscall($prctl, 24, $right, 0, 0, 0) if $right != 1 }
  must("setgroups", syscall($setgroups, 0, 0));
  must("setresgid", syscall($setresgid, $id, $id, $id));
  must("setresuid", syscall($setresuid, $id, $id, $id));
}
syscall($prctl, 47, 4, 0, 0, 0);
my $header = pack("LL", 0x20080522, 0);
my $rights = pack("LLLLLL", $kept, $kept, $kept, 0, 0, 0);
must("capset", syscall($capset, $header, $rights));
must("keep the right to write", syscall($prctl, 47, 2, 1, 0, 0)) if $kept;

must("no_new_privs", syscall($prctl, 38, 1, 0, 0, 0));
must("landlock_restrict_self", syscall(446, $set, 0));
my $code = pack("H*", $filter);
my $program = pack("Sx6P", length($code) / 8, $code);
must("seccomp", syscall($prctl, 22, 2, $program, 0, 0));
exec { $ARGV[0] } @ARGV or stop("exec $ARGV[0]");
`;
