/** Questions in the form of objects: they are answered and never stored. */
import type { ObjOf } from '../define-kind.ts'
import { atomic, BOOL, defineBuiltin, fields, INT64, mapOf, opt, TEXT, TIME } from './builtin-schema-builders.ts'

const authorization = { group: 'authorization.k8s.io', version: 'v1', verbs: ['create'], columns: [] } as const
const authentication = { group: 'authentication.k8s.io', version: 'v1', verbs: ['create'], columns: [] } as const

const selector = opt(
  fields({
    rawSelector: opt(TEXT),
    requirements: opt(atomic(fields({ key: TEXT, operator: TEXT, values: opt(atomic(TEXT)) }))),
  }),
)

const attributes = {
  resourceAttributes: opt(
    fields({
      namespace: opt(TEXT),
      verb: opt(TEXT),
      group: opt(TEXT),
      version: opt(TEXT),
      resource: opt(TEXT),
      subresource: opt(TEXT),
      name: opt(TEXT),
      fieldSelector: selector,
      labelSelector: selector,
    }),
  ),
  nonResourceAttributes: opt(fields({ path: opt(TEXT), verb: opt(TEXT) })),
}

const subject = {
  user: opt(TEXT),
  groups: opt(atomic(TEXT)),
  extra: opt(mapOf(atomic(TEXT))),
  uid: opt(TEXT),
}

const verdict = opt(fields({ allowed: opt(BOOL), denied: opt(BOOL), reason: opt(TEXT), evaluationError: opt(TEXT) }))

const user = opt(
  fields({ username: opt(TEXT), uid: opt(TEXT), groups: opt(atomic(TEXT)), extra: opt(mapOf(atomic(TEXT))) }),
)

/** May I do this? */
export const SelfSubjectAccessReview = defineBuiltin({
  ...authorization,
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  scope: 'Cluster',
  description: 'Asks whether the caller may do something.',
  fields: fields({ spec: opt(fields(attributes)), status: verdict }),
})
export type SelfSubjectAccessReview = ObjOf<typeof SelfSubjectAccessReview>

/** May somebody do this? */
export const SubjectAccessReview = defineBuiltin({
  ...authorization,
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  scope: 'Cluster',
  description: 'Asks whether somebody may do something.',
  fields: fields({ spec: opt(fields({ ...attributes, ...subject })), status: verdict }),
})
export type SubjectAccessReview = ObjOf<typeof SubjectAccessReview>

/** May somebody do this in this namespace? */
export const LocalSubjectAccessReview = defineBuiltin({
  ...authorization,
  kind: 'LocalSubjectAccessReview',
  plural: 'localsubjectaccessreviews',
  scope: 'Namespaced',
  description: 'Asks whether somebody may do something in one namespace.',
  fields: fields({ spec: opt(fields({ ...attributes, ...subject })), status: verdict }),
})
export type LocalSubjectAccessReview = ObjOf<typeof LocalSubjectAccessReview>

/** What may I do in a namespace? */
export const SelfSubjectRulesReview = defineBuiltin({
  ...authorization,
  kind: 'SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
  scope: 'Cluster',
  description: 'Asks for everything the caller may do in a namespace.',
  fields: fields({
    spec: opt(fields({ namespace: opt(TEXT) })),
    status: opt(
      fields({
        resourceRules: opt(
          atomic(
            fields({
              verbs: atomic(TEXT),
              apiGroups: opt(atomic(TEXT)),
              resources: opt(atomic(TEXT)),
              resourceNames: opt(atomic(TEXT)),
            }),
          ),
        ),
        nonResourceRules: opt(atomic(fields({ verbs: atomic(TEXT), nonResourceURLs: opt(atomic(TEXT)) }))),
        incomplete: opt(BOOL),
        evaluationError: opt(TEXT),
      }),
    ),
  }),
})
export type SelfSubjectRulesReview = ObjOf<typeof SelfSubjectRulesReview>

/** Who am I? */
export const SelfSubjectReview = defineBuiltin({
  ...authentication,
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  scope: 'Cluster',
  description: 'Asks who the caller is.',
  fields: fields({ status: opt(fields({ userInfo: user })) }),
})
export type SelfSubjectReview = ObjOf<typeof SelfSubjectReview>

/** Whose token is this? */
export const TokenReview = defineBuiltin({
  ...authentication,
  kind: 'TokenReview',
  plural: 'tokenreviews',
  scope: 'Cluster',
  description: 'Asks whom a token proves.',
  fields: fields({
    spec: opt(fields({ token: opt(TEXT), audiences: opt(atomic(TEXT)) })),
    status: opt(fields({ authenticated: opt(BOOL), user, audiences: opt(atomic(TEXT)), error: opt(TEXT) })),
  }),
})
export type TokenReview = ObjOf<typeof TokenReview>

/** A token for a ServiceAccount; sent to its `token` subresource. */
export const TokenRequest = defineBuiltin({
  ...authentication,
  kind: 'TokenRequest',
  plural: 'tokenrequests',
  scope: 'Namespaced',
  description: 'Asks for a token of a service account.',
  fields: fields({
    spec: opt(
      fields({
        audiences: opt(atomic(TEXT)),
        expirationSeconds: opt(INT64),
        boundObjectRef: opt(fields({ kind: opt(TEXT), apiVersion: opt(TEXT), name: opt(TEXT), uid: opt(TEXT) })),
      }),
    ),
    status: opt(fields({ token: opt(TEXT), expirationTimestamp: opt(TIME) })),
  }),
})
export type TokenRequest = ObjOf<typeof TokenRequest>

/** The questions that have paths of their own. */
export const REVIEW_KINDS = [
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SelfSubjectReview,
  TokenReview,
] as const
