// Tested by src/dialects/argo/clusters/cluster-secret.test.ts
/**
 * The Cluster that a cluster Secret stands for: which Cluster it is, its labels, annotations and aliases. Labels may be
 * changed in both places: the last common labels are kept in an annotation of the Secret. Pure.
 */
import { isObject, jsonEqual } from '../../../core/json.ts'
import { subdomainProblems } from '../../../core/text/name-validation.ts'
import type { Secret } from '../../../kinds/builtin/core.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { ARGO_PROJECT, CLUSTER_OF_SECRET, COMMON_FIELDS, FINDINGS, SECRET_OF_CLUSTER } from '../annotations.ts'
import { LOCAL_NAME, LOCAL_SERVER } from '../applicationset/clusters.ts'
import { SECRET_TYPE } from '../repositories/repository-secrets.ts'
import { argoNameOf, isLocalCluster, LOCAL_ALIAS, ownServer, serverOf } from './destinations.ts'
import type { ReadClusterSecret } from './cluster-secret.ts'

type Texts = Readonly<Record<string, string>>

/** What both had last: labels, and the annotations that the Cluster got from the Secret. */
export interface CommonFields {
  readonly labels: Texts
  readonly annotations: readonly string[]
}

/** The Cluster of a Secret, the name of a new one, or why there is none. */
export type ClusterChoice = { readonly cluster: Cluster } | { readonly create: string } | { readonly problem: string }

/** The key of a Secret, as an annotation of its Cluster has it. */
export function keyOfSecret({ metadata }: Pick<Secret, 'metadata'>): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
}

/** Finds the Cluster of a Secret: the one it was tied to, then by address, then by name. */
export function chooseCluster(secret: Secret, read: ReadClusterSecret, clusters: readonly Cluster[]): ClusterChoice {
  const tied = secret.metadata.annotations?.[CLUSTER_OF_SECRET]
  const found =
    (tied === undefined ? undefined : clusters.find(({ metadata }) => metadata.name === tied)) ??
    clusters.find((cluster) => read.server !== '' && isAt(cluster, read.server)) ??
    clusters.find((cluster) => isNamed(cluster, read))
  if (found) {
    const owner = found.metadata.annotations?.[SECRET_OF_CLUSTER]
    if (owner !== undefined && owner !== keyOfSecret(secret))
      return { problem: `Cluster ${found.metadata.name} has the cluster Secret ${owner} already; delete one of both` }
    return { cluster: found }
  }
  if (tied !== undefined)
    return {
      problem: `Cluster ${tied} was removed; to register the cluster again, remove the annotation ${CLUSTER_OF_SECRET}`,
    }
  if (read.server === LOCAL_SERVER)
    return {
      problem: `no Cluster stands for ${LOCAL_SERVER}; give one the alias ${LOCAL_ALIAS} of dialect argo in spec.aliases`,
    }
  if (read.kubeconfig === undefined)
    return {
      problem: `there is no Cluster ${read.name}, and the Secret has no credentials to register it; "flotilla cluster add" prints the command for an agent`,
    }
  const name = clusterName(read)
  if (name === undefined) return { problem: 'name must be usable as the name of a Cluster' }
  if (clusters.some(({ metadata }) => metadata.name === name))
    return { problem: `there is a Cluster ${name} with another address; give the Secret another name` }
  return { create: name }
}

function isAt(cluster: Cluster, server: string): boolean {
  if (server === LOCAL_SERVER) return isLocalCluster(cluster)
  return [serverOf(cluster), ownServer(cluster)].includes(server)
}

/** A Cluster of the name that has no other address yet. */
function isNamed(cluster: Cluster, { name, server }: ReadClusterSecret): boolean {
  if (name === LOCAL_NAME) return isLocalCluster(cluster)
  const isFree = server === '' || serverOf(cluster) === ownServer(cluster)
  return isFree && [cluster.metadata.name, argoNameOf(cluster)].includes(name)
}

/** The name of a new Cluster: the name of the Secret's cluster, in the characters of names. */
function clusterName({ name, server }: ReadClusterSecret): string | undefined {
  const word = name === server && URL.canParse(server) ? new URL(server).hostname : name
  const plain = word
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, 253)
  return subdomainProblems(plain).length === 0 ? plain : undefined
}

/** The fields that a Secret and its Cluster had in common last. */
export function commonOf(secret: Secret): CommonFields {
  try {
    const read: unknown = JSON.parse(secret.metadata.annotations?.[COMMON_FIELDS] ?? '{}')
    const { labels, annotations } = isObject(read) ? read : {}
    return {
      labels: isObject(labels)
        ? Object.fromEntries(
            Object.entries(labels).filter((one): one is [string, string] => typeof one[1] === 'string'),
          )
        : {},
      annotations: Array.isArray(annotations) ? annotations.filter((one) => typeof one === 'string') : [],
    }
  } catch {
    return { labels: {}, annotations: [] }
  }
}

/** The labels after a change in one of two places; where both changed a label, the Secret counts. */
export function mergedLabels(common: Texts, face: Texts, own: Texts): Record<string, string> {
  const merged: Record<string, string> = {}
  for (const key of new Set([...Object.keys(face), ...Object.keys(own)])) {
    const value = at(face, key) === at(common, key) ? at(own, key) : at(face, key)
    if (value !== undefined) merged[key] = value
  }
  return merged
}

function at(texts: Texts, key: string): string | undefined {
  return Object.hasOwn(texts, key) ? texts[key] : undefined
}

/** The kubeconfig that a Cluster is registered with. */
export interface Registration {
  readonly namespace: string
  readonly name: string
}

/** The Cluster as its Secret wants it; `own` is the present one. */
export function wantedCluster(
  secret: Secret,
  read: ReadClusterSecret,
  {
    own,
    name,
    labels,
    registration,
  }: {
    readonly own: Cluster | undefined
    readonly name: string
    readonly labels: Texts
    readonly registration: Registration | undefined
  },
): Cluster {
  const gone = commonOf(secret).annotations.filter((key) => !Object.hasOwn(read.annotations, key))
  const kept = Object.entries(own?.metadata.annotations ?? {}).filter(
    ([key]) => !gone.includes(key) && key !== ARGO_PROJECT,
  )
  const spec: Cluster['spec'] = own?.spec ?? ({ accepted: true } as Cluster['spec'])
  const aliases = aliasesOf(name, read, spec.aliases ?? [])
  return {
    apiVersion: `${Cluster.group}/${Cluster.version}`,
    kind: Cluster.kind,
    metadata: {
      ...own?.metadata,
      name,
      labels: { ...labels },
      annotations: {
        ...Object.fromEntries(kept),
        ...read.annotations,
        ...(read.project === '' ? {} : { [ARGO_PROJECT]: read.project }),
        [SECRET_OF_CLUSTER]: keyOfSecret(secret),
      },
    },
    spec: {
      ...spec,
      ...(aliases.length > 0 && { aliases }),
      ...(registration && { kubeconfigSecret: { ...registration, key: 'value' } }),
    },
  }
}

/** The aliases with the name and the address of the Secret instead of those that other Secrets gave. */
function aliasesOf(
  cluster: string,
  { name, server }: ReadClusterSecret,
  present: NonNullable<Cluster['spec']['aliases']>,
): NonNullable<Cluster['spec']['aliases']> {
  const isLocal = server === LOCAL_SERVER
  const own = `https://${cluster}.clusters.flotilla.invalid`
  const wanted = [
    ...(name === cluster || name === server || (isLocal && name === LOCAL_NAME) ? [] : [name]),
    ...(server === '' || server === own ? [] : [isLocal ? LOCAL_ALIAS : server]),
  ]
  const given = new Set(present.flatMap((alias) => (alias.dialect === 'argo' ? [alias.name] : [])))
  return [
    ...present,
    ...wanted.filter((one) => !given.has(one)).map((one) => ({ dialect: 'argo' as const, name: one })),
  ]
}

/** Whether a Cluster differs from the wanted one in what a Secret decides. */
export function differs(own: Cluster, wanted: Cluster): boolean {
  return (
    !jsonEqual(own.spec, wanted.spec) ||
    !jsonEqual(own.metadata.labels ?? {}, wanted.metadata.labels ?? {}) ||
    !jsonEqual(own.metadata.annotations ?? {}, wanted.metadata.annotations ?? {})
  )
}

/** The metadata of a Secret with its labels, its Cluster and what the hub has to say. */
export function notedMetadata(
  { metadata }: Secret,
  {
    cluster,
    common,
    findings,
  }: {
    readonly cluster: string | undefined
    readonly common: CommonFields
    readonly findings: readonly string[]
  },
): Secret['metadata'] {
  const { [FINDINGS]: _said, ...others } = metadata.annotations ?? {}
  return {
    ...metadata,
    labels: { ...common.labels, [SECRET_TYPE]: 'cluster' },
    annotations: {
      ...others,
      ...(cluster === undefined ? {} : { [CLUSTER_OF_SECRET]: cluster, [COMMON_FIELDS]: JSON.stringify(common) }),
      ...(findings.length === 0 ? {} : { [FINDINGS]: findings.join('; ').slice(0, 4096) }),
    },
  }
}
