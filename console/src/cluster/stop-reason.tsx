/** Why changes of a cluster are stopped: who stopped them, when, and for what, in the words of the hub. */
import type { Cluster } from '../../../src/kinds/native/cluster.ts'
import { holdOfCluster } from '../../../src/plan/windows/cluster-hold.ts'
import { useObject } from '../data/queries.ts'
import { Command } from '../ui/parts.tsx'
import { Words } from '../ui/words.tsx'

/** The stop of a cluster by its name: `on hold since 14:03 by ana: fire`. */
export function StopReason({ name }: { readonly name: string }) {
  const { data, error } = useObject<Cluster>('clusters', name)
  if (error) return <span className="quiet">{error.message}</span>
  const hold = data && holdOfCluster(data)
  return hold ? <Words text={hold.message} /> : null
}

/** The stop of a cluster as a banner of its page. */
export function StopBanner({ cluster }: { readonly cluster: Cluster }) {
  const hold = holdOfCluster(cluster)
  if (!hold) return null
  return (
    <p className="banner" role="status">
      <strong>No change starts on this cluster.</strong> It is <Words text={hold.message} />.{' '}
      <Command>{hold.command}</Command>
    </p>
  )
}
