/** Seals the secret values of the entries of a document. */
import { compact } from '../../core/compact.ts'
import { Waiting } from '../../core/errors.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { AssembledEntry } from '../../plan/document/assemble-document.ts'
import { sealingKeyId } from '../../wire/document/sealed-values.ts'
import type { AssignmentAssemblePorts } from './ports.ts'

/** Whether all sealed values are sealed to the cluster's present key. */
export function isSealedTo({ spec }: Cluster, entries: readonly AssembledEntry[]): boolean {
  return entries.every(({ sealed }) => !sealed || sealed.key === sealingKeyId(spec.sealingKey))
}

/**
 * Seals new entries, and entries that are sealed to an older key. An entry whose values cannot be read keeps its older
 * revision, or stays out of the document when it is new: the cluster's other Bundles do not wait for it. `unsealed` is
 * the first failure, for the condition.
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
  return compact({ entries: done, unsealed })
}
