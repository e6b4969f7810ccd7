/** The Releases whose content the clusters of a Bundle run. */
import type { Client } from '../../../client/client.ts'
import { settleAll } from '../../../core/async/settle-all.ts'
import { isApiError } from '../../../core/errors.ts'
import type { KubeObject, ResourceType } from '../../../kinds/meta.ts'
import type { Release } from '../../../kinds/native/release.ts'
import { versionName } from '../../../plan/release/version-name.ts'
import { flotillaResource, listAll, RELEASES } from '../../api/flotilla-resources.ts'

interface StateRow extends KubeObject {
  readonly generation?: number
}
const STATES: ResourceType<StateRow> = {
  ...flotillaResource<StateRow>('BundleState', 'Namespaced'),
  group: 'view.flotilla.dev',
}

/** `18 on shop-g2, 23 on shop-g7`, most clusters first; undefined if the caller may not read it. */
export async function fieldVersions(
  client: Pick<Client, 'list'>,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<string | undefined> {
  try {
    const [rows, releases] = await settleAll([
      listAll(client, STATES, { namespace, fieldSelector: `bundle=${name}` }),
      listAll(client, RELEASES, { namespace }),
    ])
    return versionsText(
      rows.map(({ generation }) => generation),
      releases,
      name,
    )
  } catch (caught) {
    if (isApiError(caught, 'NotFound') || isApiError(caught, 'Forbidden')) return undefined
    throw caught
  }
}

/** Counts clusters by the generation that each reports. */
export function versionsText(
  generations: readonly (number | undefined)[],
  releases: readonly Release[],
  bundle: string,
): string {
  const counts = new Map<string, number>()
  for (const generation of generations) {
    if (generation === undefined) continue
    const version = versionName(generation, releases, bundle)
    counts.set(version, (counts.get(version) ?? 0) + 1)
  }
  const silent = generations.filter((generation) => generation === undefined).length
  const versions = [...counts]
    .toSorted(([a, many], [b, few]) => few - many || (a < b ? -1 : 1))
    .map(([version, count]) => `${count} on ${version}`)
  return [...versions, ...(silent > 0 ? [`${silent} reported nothing`] : [])].join(', ')
}
