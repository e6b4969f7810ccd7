// Tested by src/cli/commands/karmada/objects.test.ts
/** `flotilla karmada promote`: copies an object of a cluster to the hub, with a policy that keeps it there. */
import { clientOver } from '../../../client/create-client.ts'
import { findObject } from '../../../client/find-object.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'
import { templateKindNamed } from './objects.ts'

export interface PromoteInput {
  readonly connection: Pick<Connection, 'rest' | 'namespace'>
  /** The cluster that has the object. */
  readonly member: Pick<Connection, 'rest'>
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly flags: {
    readonly namespace?: string
    readonly cluster?: string
    readonly policyName?: string
    readonly autoCreatePolicy?: boolean
    readonly dryRun?: boolean
  }
}

/** Creates the object and the policy on the hub; with `--dry-run`, prints them. */
export async function karmadaPromote(word: string, name: string, input: PromoteInput): Promise<void> {
  const { connection, member, terminal, signal, flags } = input
  const [kinds, templates, revise] = await Promise.all([
    import('../../../dialects/karmada/served/kinds.ts'),
    import('../../../dialects/karmada/templates/template-kinds.ts'),
    import('../../../dialects/karmada/templates/revise-template.ts'),
  ])
  const kind = templateKindNamed(word, templates.TEMPLATE_KINDS)
  const cluster = flags.cluster ?? ''
  const hub = clientOver(connection.rest)
  if (!(await findObject(hub, Cluster, { name: cluster }, signal))) {
    throw new CliError(EXIT.notFound, {
      what: `cluster ${JSON.stringify(cluster)} not found`,
      todo: 'list clusters with "flotilla get clusters"',
    })
  }
  const namespace = flags.namespace ?? connection.namespace ?? 'default'
  const key = kind.scope === 'Namespaced' ? { namespace, name } : { name }
  const live = await findObject(clientOver(member.rest), kind, key, signal)
  if (!live) {
    throw new CliError(EXIT.notFound, { what: `${kind.kind} ${JSON.stringify(name)} not found in cluster ${cluster}` })
  }
  const object = revise.withoutServerFields(live as never)
  const isNamespaced = kind.scope === 'Namespaced'
  const policyKind: Kind = isNamespaced ? kinds.PropagationPolicy : kinds.ClusterPropagationPolicy
  const policy = policyFor(object, policyKind, { name: flags.policyName ?? name, cluster })
  const made = flags.autoCreatePolicy === false ? [object] : [policy, object]
  if (flags.dryRun) {
    terminal.data(made.map((one) => writeYaml(one)).join('---\n'))
    return
  }
  for (const one of made) {
    const type = one === object ? kind : policyKind
    try {
      await hub.create(type, one, { fieldManager: 'flotilla-promote', signal })
      terminal.say(`created ${one.kind} ${one.metadata.name}`)
    } catch (caught) {
      if (!isApiError(caught, 'AlreadyExists')) throw caught
      throw new CliError(EXIT.conflict, {
        what: `${one.kind} ${JSON.stringify(one.metadata.name)} exists on the hub`,
        todo: one === object ? 'change the object on the hub instead' : 'give another name with --policy-name',
      })
    }
  }
}

/** Keeps the object on its cluster; the agent takes it over as it is. */
function policyFor(
  { apiVersion, kind, metadata }: KubeObject,
  policyKind: Kind,
  { name, cluster }: { readonly name: string; readonly cluster: string },
): KubeObject {
  const selector = { apiVersion, kind, name: metadata.name }
  return {
    apiVersion: apiVersionOf(policyKind),
    kind: policyKind.kind,
    metadata: metadata.namespace === undefined ? { name } : { name, namespace: metadata.namespace },
    spec: {
      resourceSelectors: [selector],
      placement: { clusterAffinity: { clusterNames: [cluster] } },
      conflictResolution: 'Overwrite',
    },
  } as KubeObject
}
