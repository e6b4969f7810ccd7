/** Policies for both homes: permission to approve a ring, and protection of approvals and gates against edits. */
import { Approval } from '../native/approval.ts'
import { RolloutPlan } from '../native/rollout-plan.ts'
import { Rollout } from '../native/rollout.ts'
import { shippedPolicyBinding, shippedPolicy } from './shipped-policy.ts'

const APPROVE = 'approvals-author.flotilla.dev'
const TERMS = 'rollouts-terms.flotilla.dev'

const may = (verb: string, plural: string, name: string) =>
  `authorizer.group('${Rollout.group}').resource('${plural}').namespace(object.metadata.namespace).name(${name}).check('${verb}').allowed()`
const mayApprove = (plural: string, name: string) => may('approve', plural, name)

/** The author of an Approval is the caller, is in its groups, and has the verb `approve` on its plan or Rollout. */
export const APPROVE_POLICY = shippedPolicy({
  name: APPROVE,
  kind: Approval,
  operations: ['CREATE'],
  validations: [
    {
      expression: 'object.spec.author == request.userInfo.username',
      messageExpression: `'spec.author is ' + object.spec.author + ', and the caller is ' + request.userInfo.username + '; spec.author must be the caller'`,
      reason: 'Forbidden',
    },
    {
      expression: '!has(object.spec.groups) || object.spec.groups.all(group, group in request.userInfo.groups)',
      messageExpression: `request.userInfo.username + ' is not in all groups of spec.groups'`,
      reason: 'Forbidden',
    },
    {
      expression: `has(object.spec.plan) ? ${mayApprove(RolloutPlan.plural, 'object.spec.plan')} : ${mayApprove(Rollout.plural, 'object.spec.rollout')}`,
      messageExpression: `request.userInfo.username + ' may not approve ' + object.spec.rollout + ': it needs the verb approve on ' + (has(object.spec.plan) ? '${RolloutPlan.plural}.${RolloutPlan.group} ' + object.spec.plan : '${Rollout.plural}.${Rollout.group} ' + object.spec.rollout)`,
      reason: 'Forbidden',
    },
  ],
})

/** The policy holds everywhere. */
export const APPROVE_BINDING = shippedPolicyBinding(APPROVE_POLICY)

const same = (field: string) => `has(r.${field}) == has(o.${field}) && (!has(r.${field}) || r.${field} == o.${field})`
const STEADY = ['selector', 'group', 'count', 'share', 'approvals', 'gates'].map(same).join(' && ')
const asks = 'oldObject.spec.rings.exists(o, has(o.approvals) || has(o.gates))'
const mayBypass = `(has(oldObject.spec.plan) ? ${may('bypass', RolloutPlan.plural, 'oldObject.spec.plan')} : ${may('bypass', Rollout.plural, 'object.metadata.name')})`
const startedBy = (object: string) => `(has(${object}.spec.startedBy) ? ${object}.spec.startedBy : [])`

/**
 * A user that may edit a Rollout, for example to pause it, cannot remove its approvals and gates, move clusters into a
 * ring without approvals, or hide who started it. The verb `bypass` on its plan allows this when a gate is broken.
 */
export const ROLLOUT_PROTECTION_POLICY = shippedPolicy({
  name: TERMS,
  kind: Rollout,
  operations: ['CREATE', 'UPDATE'],
  validations: [
    {
      expression: `${startedBy('object')}.all(name, name == request.userInfo.username || (oldObject != null && name in ${startedBy('oldObject')}))`,
      messageExpression: `'spec.startedBy: the caller is ' + request.userInfo.username + ', which can add only its own name'`,
      reason: 'Forbidden',
    },
    {
      expression: `oldObject == null || ${startedBy('oldObject')}.all(name, name in ${startedBy('object')})`,
      message: 'spec.startedBy: names cannot be removed',
      reason: 'Forbidden',
    },
    {
      expression: `oldObject == null || !oldObject.spec.rings.exists(o, has(o.approvals) && o.approvals.noSelfApproval) || !oldObject.spec.paused || object.spec.paused || request.userInfo.username in ${startedBy('object')}`,
      messageExpression: `'spec.startedBy: must contain the caller ' + request.userInfo.username + ' to resume a rollout whose rings have noSelfApproval'`,
      reason: 'Forbidden',
    },
    {
      expression: `!has(object.spec.acts) || object.spec.acts.all(a, a.by == request.userInfo.username || (oldObject != null && has(oldObject.spec.acts) && oldObject.spec.acts.exists(o, o == a)))`,
      messageExpression: `'spec.acts: the caller is ' + request.userInfo.username + ', which can add only requests in its own name'`,
      reason: 'Forbidden',
    },
    {
      expression: `oldObject == null || !${asks} || ${mayBypass} || (object.spec.rings.map(r, r.name) == oldObject.spec.rings.map(o, o.name) && object.spec.rings.all(r, oldObject.spec.rings.exists(o, o.name == r.name && ${STEADY})) && has(object.spec.plan) == has(oldObject.spec.plan) && (!has(object.spec.plan) || object.spec.plan == oldObject.spec.plan))`,
      message:
        'spec.rings: the plan, the rings, their clusters, approvals and gates of a rollout cannot change; edit the RolloutPlan for the next Release, or ask a user with the verb bypass on the plan',
      reason: 'Forbidden',
    },
  ],
})

/** The policy holds everywhere. */
export const ROLLOUT_PROTECTION_BINDING = shippedPolicyBinding(ROLLOUT_PROTECTION_POLICY)
