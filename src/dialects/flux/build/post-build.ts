/** `spec.postBuild`: variables in the built objects. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { objectData } from '../values/release-values.ts'
import { substitute } from '../substitute/substitute.ts'
import { SubstituteError } from '../substitute/substitute-error.ts'
import { FluxBuildError } from './flux-build-error.ts'
import { scalarText } from './flux-kustomization.ts'
import type { FluxKustomization } from './flux-kustomization.ts'

/** Objects with an annotation or a label of this name and the value `disabled` are left as they are. */
const SUBSTITUTE = 'kustomize.toolkit.fluxcd.io/substitute'

const VARIABLE_NAME = /^[_\p{L}][_\p{L}\p{Nd}]*$/u

/** Reads an object of the cluster; undefined where it does not exist. */
export type ReadObject = (kind: string, name: string) => JsonObject | undefined

/** Replaces the variables in the text of an object. */
export type Substitution = (text: string) => string

/** How variables are replaced. */
export interface PostBuildOptions {
  /** If true, a variable that is not set is an error. */
  readonly strict: boolean
  /** Reads the objects of `substituteFrom`; without it they are not looked at, as in a dry run. */
  readonly read?: ReadObject
  readonly decode: (base64: string) => string | undefined
  /** A variable about the cluster; only asked for names that the Kustomization does not set. */
  readonly fact?: (name: string) => string | undefined
}

/** The substitution of a Kustomization, or undefined where nothing is to be replaced; throws FluxBuildError. */
export function postBuildSubstitution(
  { spec }: FluxKustomization,
  { strict, read, decode, fact }: PostBuildOptions,
): Substitution | undefined {
  if (!isObject(spec['postBuild'])) return undefined
  const vars = new Map<string, string>()
  const from = Array.isArray(spec['postBuild']['substituteFrom']) ? spec['postBuild']['substituteFrom'] : []
  for (const reference of read ? from.filter(isObject) : []) {
    const kind = String(reference['kind'])
    const name = String(reference['name'])
    if (kind !== 'ConfigMap' && kind !== 'Secret') continue
    const object = read!(kind, name)
    if (object) for (const [key, value] of objectData(object, decode)) vars.set(key, value.replaceAll('\n', ''))
    else if (reference['optional'] !== true) {
      throw new FluxBuildError(
        `substitute from '${kind}/${name}' error: ${kind === 'Secret' ? 'secrets' : 'configmaps'} "${name}" not found`,
      )
    }
  }
  const inline = isObject(spec['postBuild']['substitute']) ? spec['postBuild']['substitute'] : {}
  for (const [key, value] of Object.entries(inline)) vars.set(key, scalarText(value).replaceAll('\n', ''))
  const always = spec['postBuild']['substituteStrategy'] === 'Always'
  if (vars.size === 0 && !always) return undefined
  for (const name of vars.keys()) {
    if (!VARIABLE_NAME.test(name)) {
      throw new FluxBuildError(
        `envsubst error: '${name}' var name is invalid, must match '^[_[:alpha:]][_[:alpha:][:digit:]]*$'`,
      )
    }
  }
  return (text) => {
    try {
      return substitute(text, { vars, strict, ...(fact && { fact }) })
    } catch (caught) {
      if (!(caught instanceof SubstituteError)) throw caught
      throw new FluxBuildError(`envsubst error: variable substitution failed: ${caught.message}`)
    }
  }
}

/** True where an object asks to be left as it is. */
export function isSubstitutionDisabled(
  labels: ReadonlyMap<string, string>,
  annotations: ReadonlyMap<string, string>,
): boolean {
  return labels.get(SUBSTITUTE) === 'disabled' || annotations.get(SUBSTITUTE) === 'disabled'
}
