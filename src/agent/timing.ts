// Tested by src/agent/create-agent.sim.test.ts
/**
 * Every back-off, interval and timeout of the agent. The link's own back-off and patience are part of its state
 * machine, in wire/link/agent-link.ts; the limits that a Bundle sets (wave timeouts, hook deadlines, retries) come with
 * its set.
 */
import type { BackoffOptions } from '../core/time/backoff.ts'

/** The link to the hub. */
export const LINK_TIMING = {
  /** How long a pending cluster waits before it asks again, when the hub names no time. */
  pendingRetryMs: 5000,
  /**
   * How long after a refused announcement of a sealing key the agent tries again. Each try renews the certificate, and
   * none succeeds before the hub is upgraded or its role repaired.
   */
  announceAgainMs: 3_600_000,
  /** The agent renews its certificate when this share of the remaining lifetime has passed. */
  renewAfterShare: 2 / 3,
  /**
   * A beat that is older than the last beat by at most this was delayed on the way, and the hub time does not go back.
   * A beat that is older still comes from a hub whose clock was corrected; without it, every start-by would look
   * passed.
   */
  delayedBeatMs: 60_000,
} as const

/** Requests to the gateway. */
export const REQUEST_TIMING = {
  /** Time for a whole short response. */
  answerMs: 30_000,
  /** A download may take hours over a slow line; only this long without a byte ends it. */
  silentMs: 60_000,
  /** Pause before an interrupted download continues. */
  resumeAfterMs: 1000,
  /** Tries in a row without a new byte after which a download fails. */
  tries: 4,
  /** Time for the gateway's response to `flotilla check --agent`. */
  inspectMs: 10_000,
  /** How long a bundle waits when its content is not on disk and the link is down. */
  noLinkRetryMs: 5000,
} as const

/** The loop over all bundles of the document. */
export const LOOP_TIMING = {
  /** Back-off of the document, of a pass and of a bundle. */
  retry: { baseMs: 1000, maxMs: 60_000, jitter: 0.3 } satisfies BackoffOptions,
  /** Rest with nothing to do; every notice ends the rest. */
  idleMs: 60_000,
  /** Time until the next pass while a removal is not finished. */
  removalMs: 5000,
  /** Changes of objects come in groups: one step of a bundle for all changes within this time. */
  coalesceMs: 200,
  /** Interval at which watches that no bundle uses are stopped. */
  sweepMs: 3_600_000,
} as const

/** Time until the next step of a bundle, by its state. A change of a watched object leads to a step at once. */
export const OBSERVE_INTERVAL_MS = {
  progressing: 2000,
  failed: 5000,
  /** Some objects cannot be watched. */
  polled: 30_000,
  ready: 300_000,
  /** The bundle waits for a condition outside of the cluster, or for a person. */
  waiting: 60_000,
} as const

/** Steps that wait for the cluster. */
export const STEP_TIMING = {
  /** Until a new CustomResourceDefinition is looked at again. */
  establishMs: 500,
  /** Until an object that was deleted because a field is immutable is created again. */
  recreateMs: 1000,
  /** Until an object that another writer changes at the same time is written again. */
  contestedMs: 2000,
  /** Until a removal that waits is tried again. */
  removalRetryMs: 1000,
  /** Until an uninstall hook that runs is looked at again. */
  uninstallHookMs: 2000,
} as const

/** Watches in the cluster. */
export const WATCH_TIMING = {
  /** Lifetime of a watch. Bookmarks of the API server keep the renewal cheap. */
  watchSeconds: 1500,
  /** Time after which the agent asks again whether an executor may list a kind. */
  deniedAgainMs: 600_000,
} as const

/** Facts about the cluster as a whole. */
export const FACTS_TIMING = {
  /** Interval between reads of the version, the nodes and the claims. Placements do not depend on seconds. */
  intervalMs: 300_000,
  retryMs: 10_000,
} as const

/** Free resources, while the hub asks for them. Each read lists all pods; the rounded result seldom changes. */
export const CAPACITY_TIMING = { intervalMs: 300_000, retryMs: 30_000, idleMs: 3_600_000 } as const

/** The check whether the cluster was restored from a backup. */
export const INCARNATION_TIMING = { intervalMs: 600_000, retryMs: 30_000 } as const

/** Reports to the hub. */
export const REPORT_TIMING = {
  retry: { baseMs: 1000, maxMs: 30_000, jitter: 0.5 } satisfies BackoffOptions,
  /** Bundles of a document tend to change together: one report for all changes within this time. */
  coalesceMs: 200,
  /** Rest without a link; the link gives a notice when it opens. */
  noLinkMs: 3_600_000,
  /** Interval of check-ins until the hub sets it. */
  checkInSeconds: 30,
} as const

/** A render thread. */
export const RENDER_TIMING = { limitMs: 60_000, graceMs: 2000 } as const

/** Agents that the hub runs for clusters registered by a kubeconfig. */
export const PUSH_TIMING = {
  /** Time for one request about the agent's account. */
  requestMs: 10_000,
  /** Interval between probes of the cluster's API, and time for a probe with what it may need first. */
  intervalMs: 10_000,
  probeMs: 20_000,
  /** Failed probes in a row after which the cluster is away. */
  lostAfter: 2,
  retry: { baseMs: 2000, maxMs: 60_000, jitter: 0.5 } satisfies BackoffOptions,
  /** The token is renewed when this share of its time has passed. */
  renewAfterShare: 2 / 3,
  /** An agent that ran this long was well: its next failure begins with a short pause again. */
  stableMs: 60_000,
} as const

/** The evaluation of policies. */
export const POLICY_TIMING = {
  /** Rest with nothing to do; every notice ends the rest. */
  idleMs: 60_000,
  /** Changes of objects come in groups: one evaluation for all changes within this time. */
  coalesceMs: 500,
  /** Until a check that could not be evaluated is tried again. */
  retryMs: 10_000,
  /** Until a check that waits for another check, or cannot be judged, is looked at again. */
  pendingMs: 30_000,
  /** Some objects cannot be watched. */
  polledMs: 60_000,
  /** Certificates expire without a change. */
  certificatesMs: 3_600_000,
  /** The shortest interval that an author may set. */
  shortestIntervalMs: 5000,
  /** A policy that has repaired nothing for this long repairs at once again. */
  quietMs: 300_000,
  /** The longest rest of a policy that repairs the same again and again. */
  slowestRepairMs: 60_000,
} as const

/** The results of policy engines. */
export const RESULTS_TIMING = {
  /** Interval at which the agent looks for kinds of results: of an engine that is there, and of none. */
  lookMs: 15_000,
  lookIdleMs: 60_000,
  /** Changes come in groups: an engine that starts writes thousands of results. */
  coalesceMs: 1000,
  /** Between two reports whose violations differ. */
  betweenMs: 5000,
  /** Objects that comply come and go all the time: a report for their number alone waits this long. */
  countsMs: 600_000,
} as const
