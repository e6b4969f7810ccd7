import { Approval } from './approval.ts'
import { Assignment } from './assignment.ts'
import { Bundle } from './bundle.ts'
import { ClusterReport } from './cluster-report.ts'
import { ClusterSetBinding } from './cluster-set-binding.ts'
import { ClusterSet } from './cluster-set.ts'
import { ClusterWindow } from './cluster-window.ts'
import { Cluster } from './cluster.ts'
import type { Kind } from '../define-kind.ts'
import { Delivery } from './delivery.ts'
import { JoinToken } from './join-token.ts'
import { Override } from './override.ts'
import { PlacementDecision } from './placement-decision.ts'
import { Placement } from './placement.ts'
import { Project } from './project.ts'
import { Release } from './release.ts'
import { RolloutPlan } from './rollout-plan.ts'
import { Rollout } from './rollout.ts'
import { Source } from './source.ts'
import { Window } from './window.ts'

/** Flotilla's own kinds. */
export const NATIVE_KINDS: readonly Kind[] = [
  Cluster,
  ClusterSet,
  ClusterSetBinding,
  Project,
  JoinToken,
  Source,
  Bundle,
  Override,
  Delivery,
  Placement,
  PlacementDecision,
  Release,
  RolloutPlan,
  Rollout,
  Approval,
  Window,
  ClusterWindow,
  Assignment,
  ClusterReport,
]
