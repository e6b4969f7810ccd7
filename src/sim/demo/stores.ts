/** Which stores the demo has: their rings and regions, and what is the matter with some of them. */

/** The rings of the demo, in the order a release goes through them. */
export const RINGS = ['lab', 'canary', 'early', 'half', 'rest'] as const

/** The regions of the demo; the lines of the last one come and go. */
export const REGIONS = ['north', 'south', 'east', 'west'] as const

/** The region with bad lines. */
export const FLAKY_REGION = 'west'

/** A store. */
export interface Store {
  readonly name: string
  readonly region: (typeof REGIONS)[number]
  readonly ring: (typeof RINGS)[number]
  /** Flaky: its line comes and goes. Offline: it is away. Failing: it cannot pull images. */
  readonly fault?: 'Flaky' | 'Offline' | 'Failing'
}

// The share of the fleet that has a release once a ring is through.
const REACHED: readonly number[] = [0.03, 0.1, 0.3, 0.6, 1]
const OFFLINE_STORES = 3
// With fewer there would be more trouble than fleet.
const TROUBLE_FROM = 20

/** The stores of a demo. Small demos, and demos that run as a check, have no faulty stores. */
export function demoStores(count: number, withTrouble: boolean): readonly Store[] {
  const stores = Array.from({ length: count }, (_, index) => ({
    name: `store-${String(index + 1).padStart(2, '0')}`,
    region: REGIONS[index % REGIONS.length]!,
    ring: ringOf(index, count),
  }))
  if (!withTrouble || count < TROUBLE_FROM) return stores
  const steady = stores.filter(({ region }) => region !== FLAKY_REGION)
  const failing = steady.find(({ ring }) => ring === 'half')
  const offline = steady.filter(({ ring }) => ring === 'rest').slice(-OFFLINE_STORES)
  return stores.map((store): Store => {
    if (store.region === FLAKY_REGION) return { ...store, fault: 'Flaky' }
    if (store === failing) return { ...store, fault: 'Failing' }
    return offline.includes(store) ? { ...store, fault: 'Offline' } : store
  })
}

function ringOf(index: number, count: number): Store['ring'] {
  // Each ring has a cluster as long as there are as many clusters as rings.
  const at = REACHED.findIndex((share, ring) => index < Math.max(Math.ceil(share * count), ring + 1))
  return RINGS[at]!
}

/** The labels the hub stamps on a store. */
export function labelsOf({ region, ring }: Store): Record<string, string> {
  return { tier: 'store', region, ring }
}
