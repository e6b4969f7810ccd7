// Tested by src/cli/commands/preview/diff.contract.test.ts.
/** Data of the inputs of Bundles: the content of ConfigMaps, and only the key names of Secrets. */
import type { Client } from '../../client/client.ts'
import { isApiError } from '../../core/errors.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import type { ReadInputData } from './bundle-recipe.ts'
import { keyOfObject } from './fleet-facts.ts'
import type { FleetFacts } from './fleet-facts.ts'
import type { Definition } from '../lint/read-definitions.ts'

interface WithData extends KubeObject {
  data?: Record<string, string>
  stringData?: Record<string, string>
}

type Kind = Parameters<ReadInputData>[0]
type Texts = Readonly<Record<string, string>>

const RESOURCES: Readonly<Record<Kind, ResourceType<WithData>>> = {
  ConfigMap: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' },
  Secret: { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', scope: 'Namespaced' },
}

/** Reads the inputs of Bundles from the hub. Objects that the caller may not read count as missing. */
export async function inputTexts(
  client: Client,
  { bundles }: FleetFacts,
): Promise<(namespace: string) => ReadInputData> {
  const found = new Map<string, Texts | undefined>()
  const readOnce = async (kind: Kind, at: { readonly namespace: string; readonly name: string }) => {
    const id = `${kind} ${at.namespace}/${at.name}`
    if (!found.has(id)) found.set(id, await read(client, kind, at))
    return { id, known: found.get(id) }
  }
  for (const { metadata, spec } of bundles) {
    const namespace = metadata.namespace ?? 'default'
    const maps = [
      ...(spec.manifestsFrom ?? []).map(({ configMap }) => configMap),
      ...(spec.inputs ?? []).flatMap(({ configMap }) => (configMap ? [configMap.name] : [])),
    ]
    for (const name of maps) await readOnce('ConfigMap', { namespace, name })
    for (const { secret } of spec.inputs ?? []) {
      if (!secret) continue
      const { id, known } = await readOnce('Secret', { namespace, name: secret.name })
      // More people can read a preview than the Secret, so the name of the key replaces the value.
      if (secret.key !== undefined) found.set(id, { ...known, [secret.key]: placeholder(secret.name, secret.key) })
    }
  }
  return (namespace) => (kind, name) => found.get(`${kind} ${namespace}/${name}`)
}

async function read(
  client: Client,
  kind: Kind,
  at: { readonly namespace: string; readonly name: string },
): Promise<Texts | undefined> {
  try {
    return textsOf(kind, await client.get(RESOURCES[kind], at))
  } catch (caught) {
    if (isApiError(caught, 'NotFound') || isApiError(caught, 'Forbidden')) return undefined
    throw caught
  }
}

/** Data of an input object in the files. */
export function textsInFiles(
  others: readonly Definition[],
  { kind, namespace, name }: { readonly kind: Kind; readonly namespace: string; readonly name: string },
): Texts | undefined {
  const found = others.find(({ object }) => object.kind === kind && keyOfObject(object) === `${namespace}/${name}`)
  return found && textsOf(kind, found.object)
}

function textsOf(kind: Kind, { data, stringData, metadata }: WithData): Texts {
  if (kind === 'ConfigMap') return data ?? {}
  const keys = Object.keys({ ...data, ...stringData })
  return Object.fromEntries(keys.map((key) => [key, placeholder(metadata.name, key)]))
}

function placeholder(name: string, key: string): string {
  return `(${key} of Secret ${name})`
}
