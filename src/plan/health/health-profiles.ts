// Tested by src/plan/health/health-rules.test.ts
/** The built-in health rules that a Bundle chooses. */
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { groupOf } from '../objects/object-id.ts'
import type { ObjectId } from '../objects/object-id.ts'
import { argoHealthFor } from './argo/argo-health.ts'
import { healthOfVerdict } from './argo/verdict.ts'
import { KStatusError, kstatus } from './kstatus.ts'
import type { KStatus } from './kstatus.ts'
import { healthOf } from './object-health.ts'
import type { Health } from './object-health.ts'

/** Judges an object of one kind. */
export type ProfileHealth = (object: UnknownObject) => Health

/** The health of a kind by a profile; undefined when it is that of the native profile. */
export function profileHealth(profile: BundleOptions['healthProfile'], id: ObjectId): ProfileHealth | undefined {
  switch (profile) {
    case undefined:
    case 'Native':
      return undefined
    case 'Argo': {
      const judge = argoHealthFor(groupOf(id), id.kind)
      return judge === 'native' ? undefined : unlessUnsettled((object) => healthOfVerdict(judge(object)))
    }
    case 'KStatus':
      return unlessUnsettled(byKStatus)
    case 'Exists':
      return (object) => (object.metadata.deletionTimestamp === undefined ? READY : healthOf(object))
  }
}

const READY: Health = { state: 'Ready', message: '' }

/** An object that is being deleted, or a status of an older generation, is judged alike in all profiles. */
function unlessUnsettled(judge: ProfileHealth): ProfileHealth {
  return (object) => {
    const given = healthOf(object)
    return given.isStale || object.metadata.deletionTimestamp !== undefined ? given : judge(object)
  }
}

const KSTATUS_STATES: Readonly<Record<KStatus['status'], Health['state']>> = {
  Current: 'Ready',
  InProgress: 'Progressing',
  Terminating: 'Progressing',
  Failed: 'Failed',
}

function byKStatus(object: UnknownObject): Health {
  try {
    const { status, message } = kstatus(object)
    return { state: KSTATUS_STATES[status], message: status === 'Current' ? '' : message }
  } catch (caught) {
    if (caught instanceof KStatusError) return { state: 'Progressing', message: caught.message }
    throw caught
  }
}
