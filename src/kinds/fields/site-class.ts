/** Classes of sites, which set the check-in interval and the offline tolerance of their clusters. */
export const SITE_CLASSES = ['Connected', 'Edge', 'Intermittent'] as const
export type SiteClass = (typeof SITE_CLASSES)[number]

/** Initial times of a cluster of each class. A user can change them afterwards. */
export const SITE_CLASS_TIMES: Readonly<
  Record<SiteClass, { readonly checkInSeconds: number; readonly offlineAfterSeconds: number }>
> = {
  /** A data centre or a cloud: two minutes without contact are a fault. */
  Connected: { checkInSeconds: 30, offlineAfterSeconds: 120 },
  /** A store or a factory: interruptions of 15 minutes are normal. */
  Edge: { checkInSeconds: 60, offlineAfterSeconds: 900 },
  /** A ship, a train, or a line that is switched on at night: a week without contact is normal. */
  Intermittent: { checkInSeconds: 300, offlineAfterSeconds: 604_800 },
}

/** Default rate of content for each class: the line of a store must stay free for its tills. */
export const SITE_CLASS_BYTES_PER_SECOND: Readonly<Record<SiteClass, number | undefined>> = {
  Connected: undefined,
  Edge: 4 * 1024 * 1024,
  Intermittent: 256 * 1024,
}
