import { openEmbeddedHome } from '../../testing/api-contract/homes.ts'
import { NEW_POD_CASES } from '../../testing/api-contract/workloads/pod-admission.ts'
import { apiContract } from '../../testing/api-contract/api-contract.ts'

apiContract('new pods over HTTPS and SQLite', openEmbeddedHome, {}, NEW_POD_CASES)
