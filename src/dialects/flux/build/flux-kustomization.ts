/** The Flux Kustomization as a file has it, read as leniently as Flux's own command reads it. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { FluxBuildError } from './flux-build-error.ts'

/** The group of the kind. */
export const KUSTOMIZE_GROUP = 'kustomize.toolkit.fluxcd.io'

/** A Kustomization: the fields that a build reads. */
export interface FluxKustomization {
  readonly name: string
  readonly namespace: string
  readonly spec: JsonObject
  readonly annotations?: Readonly<Record<string, string>>
}

/** Finds a Kustomization by its name in a text of several documents; throws FluxBuildError. */
export function findKustomization(
  text: string,
  { name, namespace, file }: { readonly name: string; readonly namespace: string; readonly file: string },
): FluxKustomization {
  const prefix = 'failed to get kustomization object'
  for (const value of documents(text, `${prefix}: failed to unmarshall kustomization file ${file}`)) {
    const found = asKustomization(value)
    const wrong = found && substituteProblem(found.spec)
    if (wrong !== undefined) {
      throw new FluxBuildError(`${prefix}: failed to unmarshall kustomization file ${file}: ${wrong}`)
    }
    if (found && found.name === name && (found.namespace === '' || found.namespace === namespace)) {
      return { ...found, namespace: found.namespace || namespace }
    }
  }
  throw new FluxBuildError(
    `${prefix}: failed find kustomization with name '${name}' and namespace '${namespace}' in file '${file}'`,
  )
}

function substituteProblem({ postBuild }: JsonObject): string | undefined {
  const vars = isObject(postBuild) && isObject(postBuild['substitute']) ? postBuild['substitute'] : {}
  const wrong = Object.entries(vars).find(([, value]) => typeof value === 'object' && value !== null)
  return wrong && `spec.postBuild.substitute.${wrong[0]} must be a string`
}

function documents(text: string, problem: string): unknown[] {
  try {
    return readYaml(text, { duplicateKeys: 'last' }).map(({ value }) => value)
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    throw new FluxBuildError(`${problem}: ${caught.goMessage}`)
  }
}

/** A value as a Kustomization, or undefined for other kinds. */
export function asKustomization(value: unknown): FluxKustomization | undefined {
  if (!isObject(value) || value['kind'] !== 'Kustomization' || !isObject(value['metadata'])) return undefined
  if (!String(value['apiVersion']).startsWith(`${KUSTOMIZE_GROUP}/`)) return undefined
  const { name, namespace, annotations } = value['metadata']
  return {
    ...(isObject(annotations) && { annotations: textsIn(annotations) }),
    name: scalarText(name),
    namespace: scalarText(namespace),
    spec: isObject(value['spec']) ? value['spec'] : {},
  }
}

function textsIn(values: JsonObject): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, scalarText(value)]))
}

/** A scalar of a file as text; nothing for null and for what is no scalar. */
export function scalarText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
