import type { Cluster } from '../../kinds/native/cluster.ts'

/** Whether a person requested a new sealing key and the cluster still has the old one. */
export function isSealingKeyRetired({ spec }: Pick<Cluster, 'spec'>): boolean {
  return spec.retiredSealingKey?.key === spec.sealingKey
}
