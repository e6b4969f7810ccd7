/** Which entries of a document need their secret values sealed, and what becomes of those that cannot be. */
import { Waiting } from '../../core/errors.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { AssembledEntry } from '../../plan/document/assemble-document.ts'
import { sealingKeyId } from '../../wire/document/sealed-values.ts'
import type { AssignmentAssemblePorts } from './ports.ts'

/** Whether everything that is sealed is sealed to the cluster's present key. */
export function isSealedTo({ spec }: Cluster, entries: readonly AssembledEntry[]): boolean {
  return entries.every(({ sealed }) => !sealed || sealed.key === sealingKeyId(spec.sealingKey))
}

/**
 * Seals what is new and what is sealed to an older key. An entry whose values cannot be read stays as it was, or out when it is new: the cluster's
 * other bundles do not wait for it. `unsealed` is the first such failure, for who shows it.
 */
export async function sealEntries(
  cluster: Cluster,
  { before, entries }: { readonly before: readonly AssembledEntry[]; readonly entries: readonly AssembledEntry[] },
  ports: Pick<AssignmentAssemblePorts, 'seal'>,
  signal: AbortSignal,
): Promise<{ readonly entries: readonly AssembledEntry[]; readonly unsealed?: Waiting }> {
  const known = new Map(before.map((entry) => [entry.bundle, entry]))
  const done: AssembledEntry[] = []
  let unsealed: Waiting | undefined
  for (const entry of entries) {
    const old = known.get(entry.bundle)
    const isNew = old?.generation !== entry.generation || old.set !== entry.set
    if (!isNew && isSealedTo(cluster, [entry])) {
      done.push(entry)
      continue
    }
    try {
      const sealed = await ports.seal(cluster, entry, signal)
      done.push(sealed ? { ...entry, sealed } : entry)
    } catch (caught) {
      if (!(caught instanceof Waiting)) throw caught
      unsealed ??= caught
      if (old) done.push(old)
    }
  }
  return { entries: done, ...(unsealed ? { unsealed } : {}) }
}
