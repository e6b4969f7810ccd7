/** Questions in the form of objects: they are answered and never stored. */
import type { ObjectOfKind } from '../define-kind.ts'
import {
  atomicList,
  BOOL,
  defineBuiltin,
  objectWith,
  INT64,
  mapOf,
  optional,
  TEXT,
  TIME,
} from './builtin-schema-builders.ts'

const authorization = { group: 'authorization.k8s.io', version: 'v1', verbs: ['create'], columns: [] } as const
const authentication = { group: 'authentication.k8s.io', version: 'v1', verbs: ['create'], columns: [] } as const

const selector = optional(
  objectWith({
    rawSelector: optional(TEXT),
    requirements: optional(atomicList(objectWith({ key: TEXT, operator: TEXT, values: optional(atomicList(TEXT)) }))),
  }),
)

const attributes = {
  resourceAttributes: optional(
    objectWith({
      namespace: optional(TEXT),
      verb: optional(TEXT),
      group: optional(TEXT),
      version: optional(TEXT),
      resource: optional(TEXT),
      subresource: optional(TEXT),
      name: optional(TEXT),
      fieldSelector: selector,
      labelSelector: selector,
    }),
  ),
  nonResourceAttributes: optional(objectWith({ path: optional(TEXT), verb: optional(TEXT) })),
}

const subject = {
  user: optional(TEXT),
  groups: optional(atomicList(TEXT)),
  extra: optional(mapOf(atomicList(TEXT))),
  uid: optional(TEXT),
}

const verdict = optional(
  objectWith({
    allowed: optional(BOOL),
    denied: optional(BOOL),
    reason: optional(TEXT),
    evaluationError: optional(TEXT),
  }),
)

const user = optional(
  objectWith({
    username: optional(TEXT),
    uid: optional(TEXT),
    groups: optional(atomicList(TEXT)),
    extra: optional(mapOf(atomicList(TEXT))),
  }),
)

/** May I do this? */
export const SelfSubjectAccessReview = defineBuiltin({
  ...authorization,
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  scope: 'Cluster',
  description: 'Asks whether the caller may do something.',
  fields: objectWith({ spec: optional(objectWith(attributes)), status: verdict }),
})
export type SelfSubjectAccessReview = ObjectOfKind<typeof SelfSubjectAccessReview>

export const SubjectAccessReview = defineBuiltin({
  ...authorization,
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  scope: 'Cluster',
  description: 'Request that determines whether a user may perform an action.',
  fields: objectWith({ spec: optional(objectWith({ ...attributes, ...subject })), status: verdict }),
})
export type SubjectAccessReview = ObjectOfKind<typeof SubjectAccessReview>

export const LocalSubjectAccessReview = defineBuiltin({
  ...authorization,
  kind: 'LocalSubjectAccessReview',
  plural: 'localsubjectaccessreviews',
  scope: 'Namespaced',
  description: 'Request that determines whether a user may perform an action in one namespace.',
  fields: objectWith({ spec: optional(objectWith({ ...attributes, ...subject })), status: verdict }),
})
export type LocalSubjectAccessReview = ObjectOfKind<typeof LocalSubjectAccessReview>

/** What may I do in a namespace? */
export const SelfSubjectRulesReview = defineBuiltin({
  ...authorization,
  kind: 'SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
  scope: 'Cluster',
  description: 'Asks for everything the caller may do in a namespace.',
  fields: objectWith({
    spec: optional(objectWith({ namespace: optional(TEXT) })),
    status: optional(
      objectWith({
        resourceRules: optional(
          atomicList(
            objectWith({
              verbs: atomicList(TEXT),
              apiGroups: optional(atomicList(TEXT)),
              resources: optional(atomicList(TEXT)),
              resourceNames: optional(atomicList(TEXT)),
            }),
          ),
        ),
        nonResourceRules: optional(
          atomicList(objectWith({ verbs: atomicList(TEXT), nonResourceURLs: optional(atomicList(TEXT)) })),
        ),
        incomplete: optional(BOOL),
        evaluationError: optional(TEXT),
      }),
    ),
  }),
})
export type SelfSubjectRulesReview = ObjectOfKind<typeof SelfSubjectRulesReview>

/** Who am I? */
export const SelfSubjectReview = defineBuiltin({
  ...authentication,
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  scope: 'Cluster',
  description: 'Asks who the caller is.',
  fields: objectWith({ status: optional(objectWith({ userInfo: user })) }),
})
export type SelfSubjectReview = ObjectOfKind<typeof SelfSubjectReview>

/** Whose token is this? */
export const TokenReview = defineBuiltin({
  ...authentication,
  kind: 'TokenReview',
  plural: 'tokenreviews',
  scope: 'Cluster',
  description: 'Asks whom a token proves.',
  fields: objectWith({
    spec: optional(objectWith({ token: optional(TEXT), audiences: optional(atomicList(TEXT)) })),
    status: optional(
      objectWith({ authenticated: optional(BOOL), user, audiences: optional(atomicList(TEXT)), error: optional(TEXT) }),
    ),
  }),
})
export type TokenReview = ObjectOfKind<typeof TokenReview>

/** A token for a ServiceAccount; sent to its `token` subresource. */
export const TokenRequest = defineBuiltin({
  ...authentication,
  kind: 'TokenRequest',
  plural: 'tokenrequests',
  scope: 'Namespaced',
  description: 'Asks for a token of a service account.',
  fields: objectWith({
    spec: optional(
      objectWith({
        audiences: optional(atomicList(TEXT)),
        expirationSeconds: optional(INT64),
        boundObjectRef: optional(
          objectWith({ kind: optional(TEXT), apiVersion: optional(TEXT), name: optional(TEXT), uid: optional(TEXT) }),
        ),
      }),
    ),
    status: optional(objectWith({ token: optional(TEXT), expirationTimestamp: optional(TIME) })),
  }),
})
export type TokenRequest = ObjectOfKind<typeof TokenRequest>

/** The questions that have paths of their own. */
export const REVIEW_KINDS = [
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SelfSubjectReview,
  TokenReview,
] as const
