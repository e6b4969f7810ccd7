/** The states of a bundle on a cluster, in API, CLI, console and metrics. */
export const BUNDLE_STATES = ['Ready', 'Progressing', 'Pending', 'Offline', 'Drifted', 'Failed', 'NotSelected'] as const

/** One of the seven states. */
export type BundleStateName = (typeof BUNDLE_STATES)[number]
