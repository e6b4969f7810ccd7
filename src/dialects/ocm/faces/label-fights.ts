/**
 * Labels that two writers change in turns, one on each face of a cluster. The hub copies each change to the other face,
 * so that the label alternates until one of the writers stops.
 */

/** The face that received a change of a label. */
export type CopiedTo = 'Cluster' | 'ManagedCluster'

/** The copies of labels between the faces of clusters. */
export interface LabelFights {
  /** Records that a change of labels was copied to a face. */
  note(cluster: string, labels: readonly string[], to: CopiedTo, now: number): void
  /** The labels of a cluster that alternate, in order. */
  contested(cluster: string, now: number): readonly string[]
  forget(cluster: string): void
}

interface Copies {
  to: CopiedTo
  /** Times at which the direction changed. */
  turns: readonly number[]
}

/** Fewer turns within the time are two people who correct each other. */
const TURNS = 4
const WITHIN_MS = 600_000

export function createLabelFights(): LabelFights {
  const known = new Map<string, Map<string, Copies>>()
  const recent = (turns: readonly number[], now: number) => turns.filter((time) => now - time < WITHIN_MS)
  return {
    note(cluster, labels, to, now) {
      if (labels.length === 0) return
      const copies = known.get(cluster) ?? new Map<string, Copies>()
      known.set(cluster, copies)
      for (const label of labels) {
        const before = copies.get(label)
        const turns = before && before.to !== to ? [...recent(before.turns, now), now] : (before?.turns ?? [])
        copies.set(label, { to, turns: turns.slice(-TURNS) })
      }
    },
    contested(cluster, now) {
      const copies = known.get(cluster) ?? new Map<string, Copies>()
      return [...copies]
        .filter(([, { turns }]) => recent(turns, now).length >= TURNS)
        .map(([label]) => label)
        .sort()
    },
    forget: (cluster) => void known.delete(cluster),
  }
}

/** The labels that differ between two objects. */
export function changedLabels(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>>,
): readonly string[] {
  const value = (labels: Readonly<Record<string, string>>, key: string) =>
    Object.hasOwn(labels, key) ? labels[key] : undefined
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => value(a, key) !== value(b, key))
}
