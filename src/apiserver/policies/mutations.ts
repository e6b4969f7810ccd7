/** What the expressions of MutatingAdmissionPolicies make: configurations to apply, and patches. */
import type { CelProgram } from '../../cel/cel.ts'
import { AUTHORIZER_LIBRARY } from '../../cel/library/authorizer.ts'
import { parseOverloads } from '../../cel/library/overload.ts'
import type { Overload } from '../../cel/library/overload.ts'
import { objectType, SIMPLE } from '../../cel/types.ts'
import type { ObjectType } from '../../cel/types.ts'
import { celToJson, CelList, CelMap, StructValue } from '../../cel/values.ts'
import type { CelValue } from '../../cel/values.ts'
import { isObject, jsonClone } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { MutatingAdmissionPolicy } from '../../kinds/builtin/admission.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { defaultObject, pruneObject } from '../../kinds/validation/validate-object.ts'
import { atomOf, atomKind, rootType } from '../apply/atoms.ts'
import type { TypeRef } from '../apply/atoms.ts'
import { merge } from '../apply/merge.ts'
import { patchJson, TestFailed } from '../patch/json-patch.ts'
import { policyCompiler } from '../../plan/policy/rules/compile-policy.ts'
import type { CompiledScope, PolicyProblem } from '../../plan/policy/rules/compile-policy.ts'

/** A mutation of a policy. */
export interface Mutator {
  readonly type: 'ApplyConfiguration' | 'JSONPatch'
  readonly program: CelProgram
}

/** The programs of a mutating policy, compiled. */
export interface CompiledMutations extends CompiledScope {
  readonly mutators: readonly Mutator[]
}

const PATCH = objectType('JSONPatch', {
  op: SIMPLE.string,
  path: SIMPLE.string,
  from: SIMPLE.string,
  value: SIMPLE.dyn,
}) as ObjectType

/** `Object`, and `Object.spec` and the like for what is below it, have any fields. */
function struct(name: string): ObjectType | undefined {
  if (name === 'JSONPatch') return PATCH
  if (name !== 'Object' && !name.startsWith('Object.')) return undefined
  return { kind: 'object', name, fields: new Map(), isOpen: true }
}

const FUNCTIONS: readonly Overload[] = [
  ...AUTHORIZER_LIBRARY,
  ...parseOverloads({
    jsonpatch_escapeKey_string: [
      'jsonpatch.escapeKey(string): string',
      (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1'),
    ],
  }),
]

/** Compiles a mutating policy's expressions. */
export function compileMutations({ spec = {} }: MutatingAdmissionPolicy): {
  readonly compiled: CompiledMutations
  readonly problems: readonly PolicyProblem[]
} {
  const { scope, problems, compile } = policyCompiler(spec, { struct, functions: FUNCTIONS })
  const mutators = (spec.mutations ?? []).flatMap(({ patchType, applyConfiguration, jsonPatch }, index): Mutator[] => {
    const isApply = patchType === 'ApplyConfiguration'
    const [field, wanted] = isApply ? ['applyConfiguration', 'Object'] : ['jsonPatch', 'list(JSONPatch)']
    const source = (isApply ? applyConfiguration : jsonPatch)?.expression?.trim() ?? ''
    if (source === '' || (!isApply && patchType !== 'JSONPatch')) return []
    const program = compile(`spec.mutations[${index}].${field}.expression`, source, wanted)
    return program ? [{ type: isApply ? 'ApplyConfiguration' : 'JSONPatch', program }] : []
  })
  return { compiled: { ...scope, mutators }, problems }
}

/** A change that cannot be made. */
export class MutationProblem extends Error {
  override readonly name = 'MutationProblem'
}

/** A copy of the object after a mutation, with defaults. */
export function applyMutation(kind: Kind, object: UnknownObject, mutator: Mutator, value: CelValue): UnknownObject {
  const next = mutator.type === 'JSONPatch' ? patched(object, value) : applied(kind, object, value)
  pruneObject(kind, next)
  defaultObject(kind, next)
  return next
}

function patched(object: UnknownObject, value: CelValue): UnknownObject {
  if (!(value instanceof CelList)) {
    throw new MutationProblem('type mismatch: JSONPatchType.expression should evaluate to array')
  }
  const operations = [...value].map((operation) => {
    if (!(operation instanceof StructValue)) {
      throw new MutationProblem('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch')
    }
    const given = operation.get('value')
    if (given !== undefined) checkNames(given, undefined)
    return celToJson(operation)
  })
  try {
    return patchJson(object, operations) as UnknownObject
  } catch (error) {
    // A test that does not hold says that nothing is to be changed.
    if (error instanceof TestFailed) return jsonClone(object)
    throw new MutationProblem(`JSON Patch: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function applied(kind: Kind, object: UnknownObject, value: CelValue): UnknownObject {
  if (!(value instanceof StructValue)) {
    throw new MutationProblem('unsupported return type from ApplyConfiguration expression')
  }
  checkNames(value, ['Object'])
  const config = { ...(celToJson(value) as JsonObject), apiVersion: apiVersionOf(kind), kind: kind.kind }
  const problem = (why: string) => new MutationProblem(`error applying patch: ${why}`)
  const known = jsonClone(config) as unknown as UnknownObject
  known.metadata ??= {} as UnknownObject['metadata']
  const unknown = pruneObject(kind, known)
  if (unknown[0] !== undefined) {
    throw problem(`failed to convert patch object to typed object: .${unknown[0]}: field not declared in schema`)
  }
  const root = rootType(kind.schema)
  const atomics = atomicsIn(config, root, '')
  if (atomics.length > 0) {
    throw problem(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`)
  }
  try {
    return jsonClone(merge(object, config, root)) as UnknownObject
  } catch (error) {
    throw problem(`failed to merge patch: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** `Object.spec{…}` can only stand where `spec` is. */
function checkNames(value: CelValue, path: readonly string[] | undefined): void {
  if (value instanceof StructValue) {
    const wanted = path?.join('.') ?? value.typeName
    if (value.typeName !== wanted) {
      throw new MutationProblem(
        `type mismatch: unexpected type name ${JSON.stringify(value.typeName)}, expected ${JSON.stringify(wanted)}, which matches field name path from root Object type`,
      )
    }
    for (const key of value.keys()) checkNames(value.get(key)!, [...wanted.split('.'), String(celToJson(key))])
  } else if (value instanceof CelList) {
    for (const item of value) checkNames(item, path)
  } else if (value instanceof CelMap) {
    for (const key of value.keys()) checkNames(value.get(key)!, path)
  }
}

/** Setting a part of what is replaced as a whole would remove the rest of it. */
function atomicsIn(value: unknown, type: TypeRef, path: string): string[] {
  const atom = atomOf(type)
  const form = atomKind(atom, value)
  if (form === 'map' && atom.map && isObject(value)) {
    const { map } = atom
    const below = Object.entries(value).flatMap(([field, inner]) =>
      map.isNamed(field) ? atomicsIn(inner, map.fieldType(field), `${path}.${field}`) : [],
    )
    return map.isAtomic ? [path, ...below] : below
  }
  if (form === 'list' && atom.list && Array.isArray(value)) {
    const { list } = atom
    const below = value.flatMap((item, index) => atomicsIn(item, list.element, `${path}[${index}]`))
    return list.isAtomic ? [path, ...below] : below
  }
  return []
}
