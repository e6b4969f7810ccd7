import { declareSchema } from '../../cel/declare-schema.ts'
import type { DeclaredType } from '../../cel/declare-schema.ts'
import type { ResourceRule, ValidatingAdmissionPolicy } from '../../kinds/builtin/admission.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import { METADATA_SCHEMA } from '../../kinds/validation/metadata.ts'
import { policyCompiler } from '../../plan/policy/rules/compile-policy.ts'

/**
 * What a validating policy's expressions get wrong about the kinds it names. A policy is in force all the same: objects
 * are of no type when it is evaluated, and so they were when it was compiled.
 */

/** A warning about an expression, as the status of a policy has it. */
export interface ExpressionWarning {
  fieldRef: string
  warning: string
}

const MAX_KINDS = 10

/** The warnings for a policy, where these kinds are served. */
export function typeCheck({ spec = {} }: ValidatingAdmissionPolicy, served: readonly Kind[]): ExpressionWarning[] {
  const kinds = kindsToCheck(spec.matchConstraints?.resourceRules ?? [], served)
  const param = served.find(
    (kind) => apiVersionOf(kind) === spec.paramKind?.apiVersion && kind.kind === spec.paramKind.kind,
  )
  const params = param && declareKind(param)
  const compilers = kinds.map((kind) => {
    const object = declareKind(kind)
    const types = { ...(object && { object, oldObject: object }), ...(params && { params }) }
    return { kind, compiler: policyCompiler(spec, { types }) }
  })
  const check = (fieldRef: string, expression: string | undefined): ExpressionWarning[] => {
    if (!expression) return []
    const messages = compilers.flatMap(({ kind, compiler }) => {
      const problem = compiler.problemOf(expression)
      return problem === undefined ? [] : [`${kind.group}/${kind.version}, Kind=${kind.kind}: ${problem}\n`]
    })
    return messages.length === 0 ? [] : [{ fieldRef, warning: messages.join('\n') }]
  }
  return (spec.validations ?? []).flatMap(({ expression, messageExpression }, index) => [
    ...check(`spec.validations[${index}].expression`, expression),
    ...check(`spec.validations[${index}].messageExpression`, messageExpression),
  ])
}

/**
 * The kinds that rules name without wildcards, in the order of their names; of more than ten the rest is not looked at.
 */
function kindsToCheck(rules: readonly ResourceRule[], served: readonly Kind[]): readonly Kind[] {
  const found = new Set<Kind>()
  for (const { apiGroups = [], apiVersions = [], resources = [] } of rules) {
    if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) continue
    let count = 0
    for (const group of [...apiGroups].sort()) {
      for (const version of [...apiVersions].sort()) {
        for (const resource of [...resources].filter((name) => !/[*/]/.test(name)).sort()) {
          for (const kind of served.filter((one) => isNamed(one, { group, version, resource }))) {
            found.add(kind)
            count += 1
            if (count === MAX_KINDS) return inOrder(found)
          }
        }
      }
    }
  }
  return inOrder(found)
}

/** The core group is the empty name, which clients take for any group. */
function isNamed(
  kind: Kind,
  name: { readonly group: string; readonly version: string; readonly resource: string },
): boolean {
  return (
    (name.group === '' || name.group === kind.group) &&
    name.version === kind.version &&
    (name.resource === kind.plural || name.resource === kind.singular)
  )
}

function inOrder(kinds: ReadonlySet<Kind>): readonly Kind[] {
  const nameOf = ({ group, version, kind }: Kind) => [group, version, kind].join('\0')
  return [...kinds].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}

function declareKind({ kind, schema }: Kind): DeclaredType | undefined {
  const properties = {
    ...schema.properties,
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: METADATA_SCHEMA,
  }
  return declareSchema({ ...schema, type: 'object', properties }, false, kind)
}
