import { BUILTIN_CASES } from '../../testing/api-contract/builtin/builtin-kinds.ts'
import { openBareEmbeddedHome } from '../../testing/api-contract/homes.ts'
import { apiContract } from '../../testing/api-contract/api-contract.ts'

const SKIPS = {
  'v1 ResourceQuota shown is served as Kubernetes serves it: defaults, owners, columns':
    'compared with a kube-apiserver alone; here quotas are counted at once, which quota.contract.test.ts compares with both',
}

apiContract('built-in kinds of the embedded server', openBareEmbeddedHome, SKIPS, BUILTIN_CASES)
