// Tested by src/plan/policy/rules/content-rules.test.ts
/** What expressions of admission policies may name. */
import { celEnvironment, compileCel } from '../../../cel/cel.ts'
import type { CelEnvironment, CelIssue, CelProgram } from '../../../cel/cel.ts'
import { AUTHORIZER, AUTHORIZER_LIBRARY } from '../../../cel/library/authorizer.ts'
import { DYNAMIC } from '../../../cel/declare-schema.ts'
import type { DeclaredType } from '../../../cel/declare-schema.ts'
import type { Overload } from '../../../cel/library/overload.ts'
import { formatType, listType, mapType, objectType, SIMPLE } from '../../../cel/types.ts'
import type { CelType } from '../../../cel/types.ts'
import { CelMap, fromJson } from '../../../cel/values.ts'
import type { CelValue } from '../../../cel/values.ts'
import { compact } from '../../../core/compact.ts'
import type { ValidatingAdmissionPolicy } from '../../../kinds/builtin/admission.ts'

const { string: TEXT } = SIMPLE

const kindType = objectType('kubernetes.GroupVersionKind', { group: TEXT, version: TEXT, kind: TEXT })
const resourceType = objectType('kubernetes.GroupVersionResource', { group: TEXT, version: TEXT, resource: TEXT })
const requestType = objectType('kubernetes.AdmissionRequest', {
  kind: kindType,
  resource: resourceType,
  subResource: TEXT,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: TEXT,
  name: TEXT,
  namespace: TEXT,
  operation: TEXT,
  userInfo: objectType('kubernetes.UserInfo', {
    username: TEXT,
    uid: TEXT,
    groups: listType(TEXT),
    extra: mapType(TEXT, listType(TEXT)),
  }),
  dryRun: SIMPLE.bool,
  options: SIMPLE.dyn,
})
const labels = mapType(TEXT, TEXT)
const namespaceType = objectType('kubernetes.Namespace', {
  metadata: objectType('kubernetes.NamespaceMetadata', {
    name: TEXT,
    generateName: TEXT,
    namespace: TEXT,
    labels,
    annotations: labels,
    UID: TEXT,
    creationTimestamp: SIMPLE.timestamp,
    deletionGracePeriodSeconds: SIMPLE.int,
    deletionTimestamp: SIMPLE.timestamp,
    generation: SIMPLE.int,
    resourceVersion: TEXT,
    finalizers: listType(TEXT),
  }),
  spec: objectType('kubernetes.NamespaceSpec', { finalizers: listType(TEXT) }),
  status: objectType('kubernetes.NamespaceStatus', { phase: TEXT }),
})

/** What policies of all kinds have. */
export interface AnyPolicySpec {
  readonly paramKind?: { apiVersion?: string; kind?: string }
  readonly matchConditions?: readonly { name: string; expression?: string }[]
  readonly variables?: readonly { name: string; expression?: string }[]
}

/** An expression with its name. */
export interface NamedProgram {
  readonly name: string
  readonly program: CelProgram
}

/** The programs that policies of all kinds have. */
export interface CompiledScope {
  readonly matchConditions: readonly NamedProgram[]
  readonly variables: readonly NamedProgram[]
}

/** The programs of a validating policy, compiled. */
export interface CompiledPolicy extends CompiledScope {
  readonly validations: readonly { readonly program: CelProgram; readonly message: CelProgram | undefined }[]
  readonly auditAnnotations: readonly { readonly key: string; readonly program: CelProgram }[]
}

/** An expression that cannot be compiled, by its field. */
export interface PolicyProblem {
  readonly field: string
  readonly source: string
  readonly detail: string
}

/** Compiles the expressions of a policy. */
export interface PolicyCompiler {
  readonly scope: CompiledScope
  readonly problems: readonly PolicyProblem[]
  /** `wanted` are the types an expression may have, as messages print them; any is fine without. */
  compile(field: string, source: string, ...wanted: readonly string[]): CelProgram | undefined
  /** Why an expression cannot be compiled, if so. */
  problemOf(source: string): string | undefined
}

/** What a host adds to the environment of expressions. */
export type ExtraEnvironment = Pick<CelEnvironment, 'struct'> & {
  readonly functions?: readonly Overload[]
  /** The types of what is otherwise of any type. */
  readonly types?: { readonly [name in 'object' | 'oldObject' | 'params']?: DeclaredType }
}

/** A compiler for a policy's expressions; its variables and match conditions are compiled already. */
export function policyCompiler(spec: AnyPolicySpec, more: ExtraEnvironment = {}): PolicyCompiler {
  const problems: PolicyProblem[] = []
  const fields: Record<string, CelType> = {}
  const base: Record<string, DeclaredType> = {
    object: DYNAMIC,
    oldObject: DYNAMIC,
    request: { type: requestType, adapt: fromJson },
    namespaceObject: { type: namespaceType, adapt: fromJson },
    authorizer: AUTHORIZER,
    'authorizer.requestResource': { ...AUTHORIZER, type: RESOURCE_CHECK },
    ...compact({ params: spec.paramKind ? DYNAMIC : undefined }),
    ...more.types,
  }
  const adapt = (raw: unknown) => raw as CelValue
  const environment = (): CelEnvironment => ({
    ...celEnvironment(
      {
        ...base,
        ...compact({
          variables: spec.variables?.length ? { type: objectType('kubernetes.variables', fields), adapt } : undefined,
        }),
      },
      more.functions ?? AUTHORIZER_LIBRARY,
    ),
    ...compact({ struct: more.struct }),
  })
  const compile = (field: string, source: string, ...wanted: readonly string[]): CelProgram | undefined => {
    const program: CelProgram | CelIssue = compileCel(source, environment())
    const say = (detail: string) => problems.push({ field, source, detail })
    if (!program.ok) say(`compilation failed: ${program.message}`)
    else if (wanted.length > 0 && !wanted.includes(nameOf(program.type))) {
      const types = wanted.length === 1 ? wanted[0] : `one of [${wanted.join(' ')}]`
      say(`must evaluate to ${types} but got ${nameOf(program.type)}`)
    } else return program
    return undefined
  }
  const variables = (spec.variables ?? []).flatMap(({ name, expression = '' }, index) => {
    const program = compile(`spec.variables[${index}].expression`, expression)
    fields[name] = program?.type ?? SIMPLE.dyn
    return program ? [{ name, program }] : []
  })
  const matchConditions = (spec.matchConditions ?? []).flatMap(({ name, expression = '' }, index) => {
    const program = compile(`spec.matchConditions[${index}].expression`, expression, 'bool')
    return program ? [{ name, program }] : []
  })
  return {
    scope: { variables, matchConditions },
    problems,
    compile,
    problemOf(source) {
      const program = compileCel(source, environment())
      return program.ok ? undefined : program.message
    },
  }
}

/** A type as it calls itself, which is not how the type checker prints it. */
function nameOf(type: CelType): string {
  return type.kind === 'null' ? 'null_type' : formatType(type)
}

/** Compiles a validating policy's expressions. */
export function compilePolicy(policy: ValidatingAdmissionPolicy): {
  readonly compiled: CompiledPolicy
  readonly problems: readonly PolicyProblem[]
} {
  const { spec = {} } = policy
  const { scope, problems, compile } = policyCompiler(spec)
  const validations = (spec.validations ?? []).flatMap(({ expression = '', messageExpression }, index) => {
    const at = `spec.validations[${index}]`
    const program = expression.trim() === '' ? undefined : compile(`${at}.expression`, expression, 'bool')
    const message = messageExpression ? compile(`${at}.messageExpression`, messageExpression, 'string') : undefined
    return program ? [{ program, message }] : []
  })
  const auditAnnotations = (spec.auditAnnotations ?? []).flatMap(({ key, valueExpression }, index) => {
    const program = compile(`spec.auditAnnotations[${index}].valueExpression`, valueExpression, 'string', 'null_type')
    return program ? [{ key, program }] : []
  })
  return { compiled: { ...scope, validations, auditAnnotations }, problems }
}

const RESOURCE_CHECK: CelType = { kind: 'opaque', name: 'kubernetes.authorization.ResourceCheck', params: [] }

/** The variables of a policy: each is evaluated when an expression first reads it, and once. */
export class LazyVariables extends CelMap {
  private readonly read: ReadonlyMap<string, () => CelValue>
  private readonly known = new Map<string, CelValue>()
  constructor(read: ReadonlyMap<string, () => CelValue>) {
    super()
    this.read = read
  }
  get size(): number {
    return this.read.size
  }
  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return undefined
    const before = this.known.get(key)
    if (before !== undefined) return before
    const value = this.read.get(key)?.()
    if (value !== undefined) this.known.set(key, value)
    return value
  }
  keys(): Iterable<CelValue> {
    return this.read.keys()
  }
}
