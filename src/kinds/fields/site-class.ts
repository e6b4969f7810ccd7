/** What kind of place a cluster is in: how often its agent should be heard, and how much silence is normal there. */
export const SITE_CLASSES = ['Connected', 'Edge', 'Intermittent'] as const
export type SiteClass = (typeof SITE_CLASSES)[number]

/** What a cluster of a class starts with; a person may change its numbers afterwards. */
export const SITE_CLASS_TIMES: Readonly<
  Record<SiteClass, { readonly checkInSeconds: number; readonly offlineAfterSeconds: number }>
> = {
  /** A data centre, a cloud: two minutes of silence are a fault. */
  Connected: { checkInSeconds: 30, offlineAfterSeconds: 120 },
  /** A store, a factory: a line that is away for a quarter of an hour is Tuesday. */
  Edge: { checkInSeconds: 60, offlineAfterSeconds: 900 },
  /** A ship, a train, a line that is switched on at night: a week. */
  Intermittent: { checkInSeconds: 300, offlineAfterSeconds: 604_800 },
}

/** How fast content goes to a cluster of a class unless the cluster says otherwise: a store's line is there for its tills. */
export const SITE_CLASS_BYTES_PER_SECOND: Readonly<Record<SiteClass, number | undefined>> = {
  Connected: undefined,
  Edge: 4 * 1024 * 1024,
  Intermittent: 256 * 1024,
}
