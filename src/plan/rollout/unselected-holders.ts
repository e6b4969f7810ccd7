/** The clusters that still run a Bundle of a Release although its Placement no longer selects them. */

/** What is known of the Bundles of a Release and of the clusters that have them. */
export interface HolderFacts {
  readonly bundles: readonly { readonly name: string; readonly placement: string }[]
  /** Whether the decisions of a Placement are complete. */
  isDecided(placement: string): boolean
  /** All clusters whose documents have the Bundle, except clusters that lose it. */
  holdersOf(bundle: string): Iterable<string>
  isHolder(bundle: string, cluster: string): boolean
  selects(placement: string, cluster: string): boolean
}

/**
 * Updates the holders by Bundle that the last pass found, and returns them all. With `changed`, only these clusters are
 * compared; without, all holders are.
 */
export function updateUnselectedHolders(
  facts: HolderFacts,
  known: Map<string, Set<string>>,
  changed: ReadonlySet<string> | undefined,
): string[] {
  return facts.bundles.flatMap(({ name, placement }) => {
    if (!facts.isDecided(placement)) return []
    const before = changed && known.get(name)
    const holders = new Set(before)
    for (const cluster of before ? changed : facts.holdersOf(name)) {
      if (facts.isHolder(name, cluster) && !facts.selects(placement, cluster)) holders.add(cluster)
      else holders.delete(cluster)
    }
    known.set(name, holders)
    return [...holders]
  })
}
