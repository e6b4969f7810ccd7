/**
 * `authorizer.group('apps').resource('deployments').check('create').allowed()`: who may do what, asked inside an
 * expression.
 */
import { CelFailure, CelOpaque } from '../values.ts'
import type { CelValue } from '../values.ts'
import type { DeclaredType } from '../declare-schema.ts'
import { parseOverloads } from './overload.ts'
import type { Overload } from './overload.ts'

/** A question to an authorizer. */
export interface AccessRequest {
  readonly user: string | undefined
  readonly verb: string
  readonly path?: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
}

/** Its answer. */
export interface AccessResult {
  readonly allowed: boolean
  readonly reason: string
}

/** Answers at once; a host whose authorizer takes time throws, asks, and evaluates again. */
export type AccessChecker = (question: AccessRequest) => AccessResult

type Check = Omit<AccessRequest, 'verb'>

abstract class Asking extends CelOpaque {
  readonly ask: AccessChecker
  readonly about: Check
  constructor(ask: AccessChecker, about: Check) {
    super()
    this.ask = ask
    this.about = about
  }
  equals(other: CelOpaque): boolean {
    return other instanceof Asking && JSON.stringify(other.about) === JSON.stringify(this.about)
  }
}

/** The `authorizer` variable. */
export class CelAuthorizer extends Asking {
  readonly typeName = 'kubernetes.authorization.Authorizer'
  constructor(ask: AccessChecker, about: Check = { user: undefined }) {
    super(ask, about)
  }
}
class PathCheck extends Asking {
  readonly typeName = 'kubernetes.authorization.PathCheck'
}
class GroupCheck extends Asking {
  readonly typeName = 'kubernetes.authorization.GroupCheck'
}

/** A question about a resource that lacks only its verb: what `authorizer.requestResource` is. */
export class ResourceCheck extends Asking {
  readonly typeName = 'kubernetes.authorization.ResourceCheck'
}

class AccessDecision extends CelOpaque {
  readonly typeName = 'kubernetes.authorization.Decision'
  readonly answer: AccessResult
  constructor(answer: AccessResult) {
    super()
    this.answer = answer
  }
  equals(other: CelOpaque): boolean {
    return other instanceof AccessDecision && other.answer.allowed === this.answer.allowed
  }
}

const checked = (asking: Asking, verb: string) => new AccessDecision(asking.ask({ ...asking.about, verb }))
const more = (field: 'subresource' | 'namespace' | 'name') => (asking: ResourceCheck, value: string) =>
  new ResourceCheck(asking.ask, { ...asking.about, [field]: value })

const A = 'kubernetes.authorization'

/** The functions of authorizers. */
export const AUTHORIZER_LIBRARY: readonly Overload[] = parseOverloads({
  authorizer_path: [
    `${A}.Authorizer::path(string): ${A}.PathCheck`,
    (asking: CelAuthorizer, path: string) => {
      if (path === '') throw new CelFailure('path must not be empty')
      return new PathCheck(asking.ask, { ...asking.about, path })
    },
  ],
  authorizer_group: [
    `${A}.Authorizer::group(string): ${A}.GroupCheck`,
    (asking: CelAuthorizer, group: string) => new GroupCheck(asking.ask, { ...asking.about, group }),
  ],
  authorizer_serviceaccount: [
    `${A}.Authorizer::serviceAccount(string, string): ${A}.Authorizer`,
    (asking: CelAuthorizer, namespace: string, name: string) =>
      new CelAuthorizer(asking.ask, { user: `system:serviceaccount:${namespace}:${name}` }),
  ],
  groupcheck_resource: [
    `${A}.GroupCheck::resource(string): ${A}.ResourceCheck`,
    (asking: GroupCheck, resource: string) => new ResourceCheck(asking.ask, { ...asking.about, resource }),
  ],
  resourcecheck_subresource: [`${A}.ResourceCheck::subresource(string): ${A}.ResourceCheck`, more('subresource')],
  resourcecheck_namespace: [`${A}.ResourceCheck::namespace(string): ${A}.ResourceCheck`, more('namespace')],
  resourcecheck_name: [`${A}.ResourceCheck::name(string): ${A}.ResourceCheck`, more('name')],
  resourcecheck_check: [`${A}.ResourceCheck::check(string): ${A}.Decision`, checked],
  pathcheck_check: [`${A}.PathCheck::check(string): ${A}.Decision`, checked],
  decision_allowed: [`${A}.Decision::allowed(): bool`, (decision: AccessDecision) => decision.answer.allowed],
  decision_reason: [`${A}.Decision::reason(): string`, (decision: AccessDecision) => decision.answer.reason],
  decision_errored: [`${A}.Decision::errored(): bool`, () => false],
  decision_error: [`${A}.Decision::error(): string`, () => ''],
})

/** The declaration of an authorizer variable. */
export const AUTHORIZER: DeclaredType = {
  type: { kind: 'opaque', name: 'kubernetes.authorization.Authorizer', params: [] },
  adapt: (raw) => raw as CelValue,
}
