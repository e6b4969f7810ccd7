/** Every function a chart may call, by name. */
import { goBuiltins } from '../../gotemplate/builtins.ts'
import { goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import type { RandomDraws } from '../frozen-random.ts'
import type { HelmProfile } from '../profile.ts'
import { certificateFunctions } from './crypto/certificates.ts'
import { dateFunctions } from './dates.ts'
import { DICT_FUNCTIONS } from './dicts.ts'
import { ENCODING_FUNCTIONS } from './crypto/encode.ts'
import { JSON_FUNCTIONS } from './json.ts'
import { LIST_FUNCTIONS } from './lists.ts'
import { NUMBER_FUNCTIONS } from './numbers.ts'
import { PATH_FUNCTIONS } from './paths.ts'
import { randomFunctions } from './crypto/random.ts'
import { REGEX_FUNCTIONS } from './regex.ts'
import { semverFunctions } from './semver-functions.ts'
import { STRING_FUNCTIONS } from './strings.ts'
import { tomlFunctions } from './toml/toml-functions.ts'
import { TYPE_FUNCTIONS } from './types.ts'
import { urlFunctions } from './urls.ts'
import { YAML_FUNCTIONS } from './yaml.ts'

/** Answers `lookup`: an object, a list, or undefined for nothing. */
export type LookUp = (query: {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}) => Map<string, unknown> | undefined

const PURE: ReadonlyMap<string, GoFunction> = new Map([
  ...goBuiltins('go1.26'),
  ...Object.entries({
    ...STRING_FUNCTIONS,
    ...NUMBER_FUNCTIONS,
    ...LIST_FUNCTIONS,
    ...DICT_FUNCTIONS,
    ...TYPE_FUNCTIONS,
    ...PATH_FUNCTIONS,
    ...REGEX_FUNCTIONS,
    ...JSON_FUNCTIONS,
    ...YAML_FUNCTIONS,
    ...ENCODING_FUNCTIONS,
  }),
])

/** What the functions of a render depend on. */
export interface FunctionContext {
  readonly profile: HelmProfile
  readonly draws: RandomDraws
  readonly lookUp: LookUp
}

/** The functions of a render, without `include` and `tpl`, which belong to a set of templates. */
export function helmFunctions(context: FunctionContext): Map<string, GoFunction> {
  const functions = new Map(PURE)
  const bound = {
    ...semverFunctions(context.profile),
    ...tomlFunctions(context.profile),
    ...urlFunctions(context.profile),
    ...randomFunctions(context.draws),
    ...certificateFunctions(context.draws),
    ...dateFunctions(context.draws, context.draws.localZone),
  }
  for (const [name, fun] of Object.entries(bound)) functions.set(name, fun)
  if (context.profile.name === 'helm3') {
    for (const name of ['mustToYaml', 'mustToToml']) functions.delete(name)
    // Sprig's `slice` hides Go's own, so only the comparisons are taken.
    const older = goBuiltins('go1.24')
    for (const name of ['eq', 'ne', 'lt', 'le', 'gt', 'ge']) functions.set(name, older.get(name)!)
  }
  functions.set(
    'getHostByName',
    goFunction(['string'], () => ''),
  )
  functions.set(
    'lookup',
    goFunction(['string', 'string', 'string', 'string'], ([apiVersion, kind, namespace, name]) => {
      const query = { apiVersion, kind, namespace, name } as Parameters<LookUp>[0]
      return context.lookUp(query) ?? new Map()
    }),
  )
  return functions
}
