// Tested by src/cli/commands/observe/status.test.ts.
/** Reads the objects that can need a person, as far as the caller may list them. */
import type { Client } from '../../client/client.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { settleAll } from '../../core/async/settle-all.ts'
import { attentionItems } from '../../plan/fleet/attention.ts'
import type { AttentionFacts, AttentionItem } from '../../plan/fleet/attention.ts'
import { BUNDLES, GIT_REPOS, listAll, PLACEMENTS, ROLLOUTS, SOURCES } from './flotilla-resources.ts'
import { readIfAllowed } from './read-if-allowed.ts'

/** What needs a person, and the kinds that the caller may not list. */
export interface ReadAttention {
  readonly facts: AttentionFacts
  readonly items: readonly AttentionItem[]
  readonly refused: readonly string[]
}

/** Reads all namespaces, or one. `clusters` are those that the caller has read. */
export async function readAttention(
  client: Pick<Client, 'list'>,
  { namespace, clusters }: { readonly namespace?: string | undefined; readonly clusters: readonly Cluster[] },
): Promise<ReadAttention> {
  const scope = namespace === undefined ? {} : { namespace }
  const [rollouts, sources, bundles, placements, repositories] = await settleAll([
    readIfAllowed('rollouts', listAll(client, ROLLOUTS, scope)),
    readIfAllowed('sources', listAll(client, SOURCES, scope)),
    readIfAllowed('bundles', listAll(client, BUNDLES, scope)),
    readIfAllowed('placements', listAll(client, PLACEMENTS, scope)),
    readIfAllowed('gitrepos', listAll(client, GIT_REPOS, scope)),
  ])
  const facts = {
    rollouts: rollouts.items,
    sources: sources.items,
    bundles: bundles.items,
    placements: placements.items,
    clusters,
    repositories: repositories.items,
  }
  const refused = [rollouts, sources, bundles, placements, repositories].flatMap((list) => list.refused ?? [])
  return { facts, items: attentionItems(facts), refused }
}
