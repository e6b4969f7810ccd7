import type { Cluster } from '../../kinds/native/cluster.ts'

/** Whether a cluster's sealing key is the one that somebody asked it to replace. */
export function isSealingKeyRetired({ spec }: Pick<Cluster, 'spec'>): boolean {
  return spec.retiredSealingKey?.key === spec.sealingKey
}
