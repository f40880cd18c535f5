/** What each level claims, in words for a person: these and no more. The sandbox suite finds exactly this. */
export const labels = {
  contained: () =>
    'Contained: commands see the workspace read-write and system files read-only, have no network and no socket files, and are ' +
    'all ended with the call. Memory is not limited. Protected files that are there are read-only, and so is Rerail itself where ' +
    'it lies in the workspace; a protected one that is not there can be made while a command runs, and is set aside when it ends ' +
    '(of node_modules only Rerail itself is looked at).',
  restricted: () =>
    'Restricted: files outside the workspace cannot be opened, and no socket can be made, so TCP, UDP, DNS and socket files are ' +
    'blocked. Files inside the workspace (git hooks, config) cannot be protected; where Rerail itself lies there, a command that ' +
    'changes it is the last one to run. Commands can see other processes and slow them down, and a detached child may outlive ' +
    'the call. They can see that a file outside is there and when it changes; its mode, group and times can be changed where the ' +
    'rights of the user allow it.',
  bare: () =>
    'Not contained: commands run with your rights. Only time, output size and the permission policy apply.',
  off: (who: string) => `Containment switched off by ${who}.`,
} as const;
