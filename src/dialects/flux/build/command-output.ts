// Tested by src/dialects/flux/recorded.contract.test.ts.
/** What `flux build kustomization` does to the objects of a build before it prints them. */
import { base64, utf8 } from '../../../core/bytes.ts'
import { isObject } from '../../../core/json.ts'
import { resolvePlain } from '../../../yaml/resolve-scalar.ts'
import type { BuiltObject } from './build-kustomization.ts'
import { asKustomization, KUSTOMIZE_GROUP, scalarText } from './flux-kustomization.ts'
import type { FluxKustomization } from './flux-kustomization.ts'
import { FluxBuildError } from './flux-build-error.ts'

/** The objects as the command prints them: with owner labels and common metadata, values of SOPS masked. */
export function commandOutput(objects: readonly BuiltObject[], kustomization: FluxKustomization): BuiltObject[] {
  return objects.filter(isComplete).map((object) => finished(object, kustomization))
}

// The command leaves out objects that no cluster would take, without a word.
function isComplete(object: BuiltObject): boolean {
  const metadata = object.get('metadata')
  const name = metadata instanceof Map ? (metadata as BuiltObject).get('name') : undefined
  return typeof name === 'string' && name !== '' && Boolean(object.get('apiVersion'))
}

function finished(object: BuiltObject, kustomization: FluxKustomization): BuiltObject {
  setOwner(object, kustomization)
  if (object.get('kind') === 'Secret') maskSecret(object)
  return object
}

/** Sets the labels that name the Kustomization of an object, and the common metadata. */
export function setOwner(object: BuiltObject, { name, namespace, spec }: FluxKustomization): void {
  const metadata = object.get('metadata') as BuiltObject
  // Labels that are written as null stay null.
  if (metadata.get('labels') !== null) {
    const labels = tableIn(metadata, 'labels')
    labels.set(`${KUSTOMIZE_GROUP}/name`, name)
    labels.set(`${KUSTOMIZE_GROUP}/namespace`, namespace)
  }
  const { commonMetadata } = spec
  for (const field of ['labels', 'annotations'] as const) {
    const common = isObject(commonMetadata) ? commonMetadata[field] : undefined
    if (!isObject(common)) continue
    const target = tableIn(metadata, field)
    for (const [key, value] of Object.entries(common)) target.set(key, value)
  }
}

function tableIn(object: BuiltObject, key: string): BuiltObject {
  const present = object.get(key)
  if (present instanceof Map) return present as BuiltObject
  const fresh: BuiltObject = new Map()
  object.set(key, fresh)
  return fresh
}

// The command masks the values of SOPS. It rewrites all values of Secrets for it, and loses their quotes: "2" is
// printed as 2.
function maskSecret(object: BuiltObject): void {
  const isEncrypted = object.delete('sops')
  for (const field of ['data', 'stringData'] as const) {
    const values = object.get(field)
    if (!(values instanceof Map)) continue
    for (const [key, value] of values as BuiltObject) {
      if (isEncrypted) (values as BuiltObject).set(key, sopsMask(key, field))
      else if (typeof value === 'string') (values as BuiltObject).set(key, plainScalar(value))
    }
  }
}

const MASK = '**SOPS**'

function sopsMask(key: string, field: 'data' | 'stringData'): string {
  const mask = key === '.dockerconfigjson' ? JSON.stringify({ mask: MASK }) : MASK
  return field === 'data' ? base64(utf8(mask)) : mask
}

function plainScalar(text: string): unknown {
  const { tag, value } = resolvePlain(text, '1.2')
  return tag === '!!str' || tag === '!!timestamp' || text.includes('\n') ? text : value
}

/** A Kustomization inside a build, and the directory of its source. */
export interface NestedKustomization {
  readonly kustomization: FluxKustomization
  readonly directory: string
}

/**
 * The Kustomizations among the objects of a build, for `--recursive`; throws FluxBuildError where `--local-sources`
 * names no directory for a source.
 */
export function nestedKustomizations(
  objects: readonly BuiltObject[],
  localSources: ReadonlyMap<string, string>,
): NestedKustomization[] {
  return objects.flatMap((object) => {
    const kustomization = asKustomization(plain(object))
    if (!kustomization) return []
    const { sourceRef, path } = kustomization.spec
    const reference = isObject(sourceRef) ? sourceRef : {}
    const home = scalarText(reference['namespace']) || kustomization.namespace
    const source = `${scalarText(reference['kind'])}/${home}/${scalarText(reference['name'])}`
    const root = localSources.get(source)
    if (root === undefined) {
      throw new FluxBuildError(`cannot get local path for ${source} of kustomization ${kustomization.name}`)
    }
    return [{ kustomization, directory: `${root}/${typeof path === 'string' ? path : '.'}` }]
  })
}

/** A value of a build as JSON. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (!(value instanceof Map)) return typeof value === 'bigint' ? Number(value) : value
  return Object.fromEntries([...(value as BuiltObject)].map(([key, item]) => [key, plain(item)]))
}
