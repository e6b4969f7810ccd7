// Tested by src/dialects/argo/applicationset/generate.test.ts.
/** The functions of Go templates in an ApplicationSet: Sprig's, and Argo CD's own. */
import { GoError, goFunction } from '../../../render/gotemplate/function.ts'
import type { GoFunction } from '../../../render/gotemplate/function.ts'
import { GoInt } from '../../../render/gotemplate/value.ts'
import { RandomDraws } from '../../../render/helm/frozen-random.ts'
import type { Entropy } from '../../../render/helm/frozen-random.ts'
import { helmFunctions } from '../../../render/helm/functions/helm-functions.ts'
import { HELM_4 } from '../../../render/helm/profile.ts'
import { readYamlList, readYamlTable, UnmarshalError } from '../../../render/helm/read-yaml.ts'
import { normalizeName, slugify } from './names.ts'

// Helm has these besides Sprig; Argo CD has not.
const HELM_ALONE = [
  'toYamlPretty',
  'mustToYaml',
  'toToml',
  'mustToToml',
  'fromToml',
  'fromJsonArray',
  'lookup',
  'getHostByName',
  'env',
  'expandenv',
]

/** All functions by name; random values and the time come from `entropy`. */
export function templateFunctions(entropy: Entropy): ReadonlyMap<string, GoFunction> {
  const draws = new RandomDraws(entropy)
  const functions = helmFunctions({ profile: HELM_4, draws, lookUp: () => undefined })
  const toYaml = functions.get('mustToYaml')!
  const fromJson = functions.get('mustFromJson')!
  for (const name of HELM_ALONE) functions.delete(name)
  functions.set('toYaml', toYaml)
  functions.set('fromJson', {
    ...fromJson,
    call: (args) => {
      try {
        return fromJson.call(args)
      } catch (caught) {
        if (caught instanceof GoError) return null
        throw caught
      }
    },
  })
  functions.set(
    'fromYaml',
    goFunction(['string'], ([text]) => unmarshalled(() => readYamlTable(text as string))),
  )
  functions.set(
    'fromYamlArray',
    goFunction(['string'], ([text]) => unmarshalled(() => readYamlList(text as string))),
  )
  functions.set(
    'normalize',
    goFunction(['string'], ([text]) => normalizeName(text as string)),
  )
  functions.set('slugify', goFunction([], slugifyArguments, 'any'))
  return functions
}

function unmarshalled<T>(read: () => T): T {
  try {
    return read()
  } catch (caught) {
    if (caught instanceof UnmarshalError) throw new GoError(caught.message)
    throw caught
  }
}

/** `slugify [MAX [SMART]] TEXT`; of other types it panics. */
function slugifyArguments(args: readonly unknown[]): string {
  let max = 50
  let smart = true
  let text = ''
  for (const [at, value] of args.entries()) {
    if (at === args.length - 1) {
      if (typeof value !== 'string') throw new GoError('interface conversion: interface {} is not string')
      text = value
    } else if (at === 0) {
      if (!(value instanceof GoInt) || value.type !== 'int') {
        throw new GoError('interface conversion: interface {} is not int')
      }
      max = Number(value.value)
    } else if (at === 1) {
      if (typeof value !== 'boolean') throw new GoError('interface conversion: interface {} is not bool')
      smart = value
    }
  }
  if (max < 0 && !smart) throw new GoError(`runtime error: slice bounds out of range [:${max}]`)
  return slugify(normalizeName(text), max, smart)
}
