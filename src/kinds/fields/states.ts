/** The one vocabulary of states, per bundle and cluster, in API, CLI, console and metrics. */
export const STATES = ['Ready', 'Progressing', 'Pending', 'Offline', 'Drifted', 'Failed', 'NotSelected'] as const

/** One of the seven states. */
export type State = (typeof STATES)[number]
