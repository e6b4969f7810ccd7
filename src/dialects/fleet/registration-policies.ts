/** Policies for both homes: who may register clusters and map workspaces, and kinds that are refused by name. */
import type { ValidatingAdmissionPolicy } from '../../kinds/builtin/admission.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { JoinToken } from '../../kinds/native/join-token.ts'
import { Project } from '../../kinds/native/project.ts'
import { shippedPolicy } from '../../kinds/policies/shipped-policy.ts'
import { BundleNamespaceMapping, ClusterRegistrationToken, Content, ImageScan } from './registration-kinds.ts'

const WHO = 'request.userInfo.username'
const OWN = `authorizer.group('${Cluster.group}')`
const nameOf = ({ plural, group }: Pick<Kind, 'plural' | 'group'>): string => `${plural}.${group}`
const needs = (kind: Pick<Kind, 'kind'>, verb: string, on: Pick<Kind, 'plural' | 'group'>): string =>
  `${WHO} + ' may not write ${kind.kind} ' + object.metadata.name + ' of fleet.cattle.io: it needs the verb ${verb} on ${nameOf(on)}'`

/** The hub makes a JoinToken in the name of the author, with the label of the workspace. */
const TOKEN_POLICY = shippedPolicy({
  name: 'clusterregistrationtokens.fleet.flotilla.dev',
  kind: ClusterRegistrationToken,
  operations: ['CREATE'],
  validations: [
    {
      expression: `${OWN}.resource('${JoinToken.plural}').check('create').allowed()`,
      messageExpression: needs(ClusterRegistrationToken, 'create', JoinToken),
      reason: 'Forbidden',
    },
    {
      expression: `${OWN}.resource('${Cluster.plural}').check('accept').allowed()`,
      messageExpression: needs(ClusterRegistrationToken, 'accept', Cluster),
      reason: 'Forbidden',
    },
  ],
})

/** A mapping reaches clusters of other tenants: it is the decision of those who decide about Projects. */
const MAPPING_POLICY = shippedPolicy({
  name: 'bundlenamespacemappings.fleet.flotilla.dev',
  kind: BundleNamespaceMapping,
  operations: ['CREATE', 'UPDATE'],
  validations: [
    {
      expression: `${OWN}.resource('${Project.plural}').check('update').allowed()`,
      messageExpression: needs(BundleNamespaceMapping, 'update', Project),
      reason: 'Forbidden',
    },
  ],
})

/** Refuses new objects of a kind, except from Fleet itself, which may still run beside the hub. */
function refused(kind: Kind, sentence: string): ValidatingAdmissionPolicy {
  return shippedPolicy({
    name: `${kind.plural}.fleet.flotilla.dev`,
    kind,
    operations: ['CREATE'],
    matchConditions: [
      {
        name: 'is-not-fleet-itself',
        expression: `!${WHO}.startsWith('system:serviceaccount:cattle-fleet-')`,
      },
    ],
    validations: [{ expression: 'false', message: sentence, reason: 'Invalid' }],
  })
}

export const REGISTRATION_POLICIES: readonly ValidatingAdmissionPolicy[] = [
  TOKEN_POLICY,
  MAPPING_POLICY,
  refused(
    Content,
    'Content of fleet.cattle.io is not served: the hub keeps the files of bundles by their digest; write them into spec.resources of a Bundle',
  ),
  refused(
    ImageScan,
    'ImageScan of fleet.cattle.io is not served: the hub writes nothing into git; let your pipeline or a bot such as Renovate commit new image tags',
  ),
]
