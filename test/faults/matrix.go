package faults

// Fault is one fault that the service is built for, and the tests that inject it.
type Fault struct {
	Number int
	Name   string
	// Tests are the tests as package.Function, the package without the path of the module.
	Tests []string
}

// Matrix lists all faults: those of the broker and the intake, of Kubernetes, of Clowder, of the process itself, and of programs and
// users that mean harm.
func Matrix() []Fault {
	return []Fault{
		{1, "a reset of an idle connection", []string{"internal/queue.TestConsumesAgainSoonAfterAReset"}},
		{2, "a reset between the delivery and the record", []string{
			"test/faults.TestAResetBetweenTheDeliveryAndTheRecord", "internal/queue.TestFaultsBetweenDeliveryAndAck",
		}},
		{3, "a reset between the record and the ack", []string{"test/faults.TestAnAckThatIsLost", "internal/queue.TestFaultsBetweenDeliveryAndAck"}},
		{4, "an ack or a confirm that is lost on the wire", []string{
			"test/faults.TestAnAckThatIsLost", "test/faults.TestTheConfirmOfTheLastWordIsLost", "internal/queue.TestFaultsBetweenDeliveryAndAck",
		}},
		{5, "a black hole", []string{"internal/queue.TestABlackHoleIsNoticed", "internal/queue.TestStopsInTimeInABlackHole"}},
		{6, "a late ack of an old session", []string{"internal/queue.TestALateAckTouchesNoOtherMessage"}},
		{7, "a clean restart of the broker", []string{
			"internal/queue.TestFaultsOfTheBroker", "internal/queue.TestAVirtualHostOfQuorumQueuesKeepsTransientMessages",
			"test/service.TestAJobThatTheBrokerLostIsRecovered",
		}},
		{8, "kill -9 of the broker", []string{"test/faults.TestTheBrokerDiesAndStarvesUnderAJob", "internal/queue.TestFaultsOfTheBroker"}},
		{9, "a broker that is down at the start", []string{
			"test/faults.TestRabbitMQIsNotThereAtTheStart", "internal/queue.TestTheStartWaitsForABrokerThatIsDown",
		}},
		{10, "a wrong password, virtual host or kind of queue", []string{
			"internal/queue.TestConfigurationErrorsEndTheStart", "test/service.TestSettingsThatCannotWorkEndTheServiceWithOneLine",
		}},
		{11, "a queue that is deleted under us", []string{
			"internal/queue.TestAQueueThatIsDeletedIsCreatedAgain", "internal/queue.TestAQueueThatIsDeletedWhilePausedIsCreatedAgain",
		}},
		{12, "a delivery that is held too long", []string{"internal/queue.TestFaultsOfTheBroker"}},
		{13, "a broker without memory", []string{"test/faults.TestTheBrokerDiesAndStarvesUnderAJob", "internal/queue.TestFaultsOfTheBroker"}},
		{14, "messages that are meant to hurt", []string{
			"test/faults.TestMessagesThatAreMeantToHurt", "test/service.TestAMessageThatIsNoJobGoesToTheErrorQueue",
		}},
		{15, "an error queue that is missing", []string{"internal/queue.TestWithoutItsErrorQueueAMessageIsKept"}},
		{16, "one job that comes many times at once", []string{
			"test/faults.TestOneJobThatComesManyTimesAtOnce", "cmd/extractor.TestOneServiceWorksOnAStateFolder",
		}},
		{17, "one job id with two contents", []string{"test/faults.TestOneJobThatComesManyTimesAtOnce"}},

		{18, "an answer to a submission that is lost", []string{
			"internal/rayjob/kuberay.TestAnswerToASubmissionIsLost", "internal/rayjob/jobsapi.TestSubmitWhenRayMisbehaves",
		}},
		{19, "an API server that is away", []string{"internal/rayjob/kuberay.TestAPIServerIsAway"}},
		{20, "changes of one record from two sides", []string{
			"internal/job.TestSQLiteKeepsThePromisesOfAStore", "cmd/extractor.TestOneServiceWorksOnAStateFolder",
		}},
		{21, "a watch that breaks or is too old", []string{"internal/rayjob/kuberay.TestWatchIsBroken"}},
		{22, "a RayJob that is deleted by hand", []string{
			"internal/rayjob/kuberay.TestRayJobDeletedByHand", "internal/rayjob/kuberay.TestASubmissionReplacesWhatADeletedRayJobOwned",
			"internal/rayjob/kuberay.TestASubmissionReplacesATokenThatKubernetesDeletesAtTheSameTime",
			"internal/pipeline.TestHowAJobEndsBadly", "test/faults.TestRayForgetsItsTrainings",
		}},
		{23, "every status of a RayJob, unknown ones too", []string{
			"internal/rayjob/kuberay.TestEveryPairIsKnown", "internal/rayjob/kuberay.TestUnknownWords",
		}},
		{24, "a submission that is refused, an image that cannot be pulled, a pod that never starts", []string{
			"internal/rayjob/kuberay.TestSubmissionsThatAreRefused", "internal/rayjob/kuberay/explain.TestHeldUpContainers",
			"internal/rayjob/kuberay/explain.TestUnschedulable", "internal/pipeline.TestHowAJobEndsBadly",
		}},
		{25, "an operator that is restarted", []string{
			"internal/rayjob/kuberay.TestOperatorIsAwayWhenTheTrainingEnds", "internal/rayjob/kuberay.TestOperatorIsAwayWhenAnAttemptIsReleased",
			"internal/results.TestReadRefusesWhatItCannotTrust",
		}},
		{26, "a result that is gone before it is collected", []string{
			"test/faults.TestAResultThatIsGoneBeforeItIsCollected", "internal/results.TestReadRefusesWhatItCannotTrust",
		}},

		{27, "a download over a bad line", []string{"test/faults.TestADownloadOverABadLine", "internal/clowder.TestStageSurvivesFailingDownloads"}},
		{28, "an upload that fails before, after or without an answer to its effect", []string{
			"test/faults.TestUploadsThatGoWrong", "test/faults.TestAnUploadThatHangsAfterItsEffect", "internal/results/delivery.TestDeliverWithABadOtherSide",
		}},
		{29, "an upload that leaves no bytes", []string{"internal/results/delivery.TestDeliverWithABadOtherSide", "internal/clowder.TestUploadsInFlight"}},
		{30, "a Clowder that is down when a training ends", []string{"test/faults.TestClowderIsDownWhenATrainingEnds"}},
		{31, "a key that is revoked, a right that is taken, a dataset that is gone", []string{
			"test/faults.TestARightThatGoesWhileAJobTrains", "test/faults.TestAKeyThatIsRevokedWhileAJobTrains", "internal/clowder/v1.TestASpaceThatWasRemoved",
			"internal/platform/clowder.TestASpaceThatIsRemovedBeforeTheDelivery", "internal/retention.TestAFailedJobCanBeRetriedForAWhile",
		}},
		{32, "a reply queue that is gone", []string{
			"test/faults.TestOneJobThatComesManyTimesAtOnce", "internal/queue.TestEveryMessageToAMissingQueueIsReturned",
		}},

		{33, "kill -9 at every crash point", []string{"test/crash.TestCrashPoints", "test/faults.TestAServiceThatIsKilledAgainAndAgain"}},
		{34, "signals in every stage", []string{"test/service.TestASignalInAnyStageIsNoFailure", "test/service.TestASecondSignalEndsTheServiceAtOnce"}},
		{35, "a full disk, and more data than there may be", []string{
			"test/service.TestNoJobIsTakenOntoAFullDisk", "internal/clowder.TestAFullDiskIsReported", "internal/clowder.TestStageHasLimits",
		}},
		{36, "a clock that is set by an hour, and a service that is paused while another one starts", []string{
			"test/faults.TestAServiceThatIsPaused", "internal/pipeline.TestAClockThatIsSetEndsNoJob",
			"internal/pipeline.TestAWaitHasAnEndWhateverTheClockSays", "internal/pipeline.TestAClockThatIsSetBackMakesNoPauseLong",
			"internal/pipeline.TestAJobThatIsSpreadBeginsInTime", "internal/pipeline.TestAChangeByAnotherProcessIsSeenAfterTheClockWasSetBack",
			"internal/pipeline.TestTheClockOfTheTrainingDoesNotCount", "internal/pipeline/clock.TestWhatAClockThatIsSetMakesOfATime",
		}},

		{37, "a training that puts links, pipes, devices and other files in the place of its own", []string{
			"test/boundary.TestBoundary", "internal/platform/clowder.TestWhatWasChangedAfterTheCheckIsNeverUploaded", "internal/clowder.TestStagingStaysInside",
		}},
		{38, "a training that floods the service with events", []string{
			"test/boundary.TestAMillionEventsOfOneRunHarmNoOther", "internal/pipeline/progress.TestManyEventsTakeLittleMemoryAndFewSentences",
		}},
		{39, "a burst of messages that take much memory", []string{
			"test/boundary.TestABurstOfHostileMessagesHarmsNobody", "internal/clowder/message.TestAMessageCostsLittleMoreThanItsSize",
		}},
		{40, "a record that is too large, and a kill while it is made small", []string{
			"internal/job.TestARecordThatIsTooLargeIsMadeSmallWithoutDecodingIt", "internal/job.TestAKilledShrinkGoesOnAtTheNextStart",
		}},
		{41, "a kill between the erasure of a key and the next look at the log of the store", []string{
			"internal/job.TestWhatAKilledProcessErasedIsShreddedAtTheNextStart", "internal/retention.TestAnErasedKeyIsInNoFileOfTheStoreAfterTheNextLook",
		}},
		{42, "a version in the registry that cannot be read", []string{
			"internal/registry.TestAVersionThatCannotBeReadCostsItselfOnly", "internal/registry.TestARunWhoseVersionCannotBeReadIsNotRegisteredTwice",
		}},
		{43, "a trainer on the volume that was changed", []string{
			"trainer.TestInstallReplacesADamagedTrainer", "internal/pipeline.TestNothingIsSubmittedWithADamagedTrainer",
		}},
		{44, "a kill while what a failed script left is delivered", []string{"test/crash.TestCrashPointsOfAFailedScript"}},
		{45, "a kill while the packages of a script are installed", []string{"internal/script/requirements.TestAnInstallationThatWasKilledIsRepeated"}},
		{46, "an object store that breaks off, refuses, or has other bytes", []string{
			"internal/s3.TestS3", "internal/pipeline/objects.TestAFailedCopyIsToldOnceAndTheRunGoesOn",
		}},
		{47, "a script on several machines whose service dies before their RayJob", []string{"internal/rayjob/kuberay.TestAPolicyWithoutARayJobIsRemoved"}},
		{48, "kill -9 at the crash points of a job of Clowder v1, and a cut after each call of a delivery to it", []string{
			"test/crash.TestCrashPointsOfAJobOfClowder1", "internal/platform/clowder.TestADeliveryThatIsCutAnywhereIsCompletedOnce",
		}},
		{49, "a Clowder v1 that answers with a login page, a stack trace or never, files that it never stores, and previews that it refuses", []string{
			"internal/clowder/v1.TestAnswersThatAreNotClowders", "internal/clowder/v1.TestWhatAnErrorOfClowderSays",
			"internal/clowder/v1.TestFoldersThatClowderNeverListsAreAskedForOnce", "internal/clowder/v1.TestAFileThatIsNeverStored",
			"internal/clowder/v1.TestAFileThatIsDeletedInMidDownload", "internal/clowder/v1.TestAnUploadThatLandsInTheRootIsTakenAway",
			"internal/clowder/v1.TestWhatClowderHasJustStoredMayBeSeenLater",
			"internal/platform/clowder.TestPicturesThatClowderRefusesAreDeliveredAllTheSame",
		}},
		{50, "a kill while new files of a dataset come in, and a file that comes while their run begins", []string{
			"test/crash.TestCrashPointsOfAnAutomaticRun", "test/crash.TestCrashPointsOfAnAutomaticRunOfClowder1",
			"internal/pipeline.TestTheFilesOfAnAutomaticRunOutliveAKill", "internal/pipeline.TestAFileThatComesWhileItsRunBeginsIsNotLost",
		}},
		{51, "a warm process that died, hangs, is of another version or user, or has no room", []string{
			"trainer/tests/processes.test_a_killed_copy_is_replaced_by_another_one", "trainer/tests/processes.test_a_copy_ends_with_its_asker_also_while_it_sleeps",
			"trainer/tests/processes.test_a_warm_process_that_is_killed_costs_its_runs_nothing_and_is_replaced",
			"trainer/tests/processes.test_a_warm_process_that_hangs_lets_a_run_start_cold", "trainer/tests/processes.test_a_run_starts_cold_without_a_warm_process",
			"trainer/tests/processes.test_a_copy_outlives_the_warm_process_and_nobody_gets_a_new_one", "trainer/tests/processes.test_which_machines_get_a_keeper",
			"trainer/tests/processes.test_the_process_of_another_version_is_not_used", "trainer/tests/processes.test_a_keeper_leaves_when_it_has_nothing_to_keep",
			"trainer/tests/processes.test_code_of_a_user_never_runs_in_a_copy", "internal/rayjob/jobsapi.TestWarmProcessesAreRequestedOnceRayIsThere",
		}},
		{52, "the warm process of a pod that died or hangs, also at its imports, or is of another version", []string{
			"trainer/tests/processes.test_a_run_starts_cold_if_the_warm_process_of_its_pod_is_dead_or_hangs",
			"trainer/tests/processes.test_a_run_starts_cold_if_the_warm_process_of_its_pod_is_of_another_version",
			"trainer/tests/processes.test_a_driver_waits_for_the_imports_of_its_pod_which_has_no_torch",
			"internal/rayjob/kuberay.TestWhichPodsStartAWarmProcess",
		}},
		{53, "a disk that fails a sync, and a power cut before a downloaded file is on it", []string{
			"internal/disk.TestCallersThatComeDuringASyncShareTheNextOne", "internal/cache.TestACommitOfABodyThatIsGoneWritesNoLine",
			"internal/cache.TestABodyOfAnotherStagingIsSyncedToo", "internal/cache.TestCacheReplacesATornBody",
		}},
		{54, "a Clowder that submits old jobs of a file again when it gets a new version, and a kill while one of them is decided about", []string{
			"test/crash.TestCrashPointsOfJobsThatANewVersionRepeats", "internal/pipeline.TestWhatClowderSubmitsByItselfTrainsOncePerContentAndSettings",
			"internal/pipeline.TestEqualJobsThatComeAtOnceTrainOnce", "internal/pipeline.TestARepeatedDecisionAboutARepeatIsTheSame",
			"internal/pipeline.TestARequestAboutRunsIsNeverRepeatedThroughAFile", "internal/platform/clowder.TestEveryJobOfAFileComesAgainWithItsNewVersion",
		}},
		{55, "a feed of Clowder that submits every new file", []string{
			"internal/pipeline.TestAFeedStartsNoMoreJobsThanItMay", "internal/platform/clowder.TestWhoSentAJobAboutAFile",
		}},
		{56, "an extractor that is deleted, replaced or offline in Clowder, and heartbeats and queues that nobody reads", []string{
			"internal/platform/clowder.TestWhatIsWrongWithAnExtractorInClowder", "internal/pipeline/intake.TestWhatBecomesOfTheExtractorsIsLoggedOnce",
			"internal/queue.TestHeartbeatsThatNobodyReadsAreNoticed", "internal/queue.TestQueuesThatNobodyReadsAreFound",
			"cmd/extractor.TestDoctorSaysHowClowderListsTheExtractors",
		}},
		{57, "a head of Ray that serves late, logs that are gone with their node, and a script that prints ten million lines", []string{
			"internal/pipeline.TestAHeadThatServesAfterFiveMinutes", "internal/pipeline.TestADeliveryAsksRayForNoLogs",
			"internal/pipeline.TestAnImageThatDoesNotExistIsNamedToTheUser", "trainer/tests/script.test_ten_million_lines_stay_below_the_limit",
			"test/boundary.TestTenMillionLinesOfOneRunHarmNoOther",
		}},
		{58, "a file, a folder or a dataset that is deleted while it is staged, and a file that is overwritten in its place", []string{
			"internal/platform/clowder.TestFilesDeletedWhileTheyAreStaged", "internal/platform/clowder.TestAFolderDeletedWhileItIsListed",
			"internal/platform/clowder.TestADatasetThatIsDeletedWhileOthersAreStaged", "internal/platform/clowder.TestAFileOverwrittenInItsPlaceIsReadAgain",
		}},
		{59, "a kill or a gateway that gives up while many datasets are staged, and a collection that grows meanwhile", []string{
			"test/crash.TestAKillWhileManyDatasetsAreStaged", "internal/platform/clowder.TestAJobOfManyDatasetsGoesOn",
			"internal/platform/clowder.TestManyDatasetsOfASlowClowder",
		}},
		{60, "a kill while the parts of a scene are answered, and while its map is made", []string{
			"trainer/tests/processes.test_a_prediction_of_a_scene_that_is_killed_delivers_the_same",
			"trainer/tests/kinds/pixels.test_what_is_answered_is_not_answered_again_and_damage_is",
		}},
		{61, "damaged tiles of a scene, and a read that fails once", []string{
			"trainer/tests/kinds/pixels.test_a_damaged_tile_has_no_data_and_the_rest_is_answered",
			"trainer/tests/kinds/pixels.test_a_read_that_fails_once_is_no_damage",
			"trainer/tests/kinds/pixels.test_a_damaged_mask_is_not_measured_where_it_is",
		}},
		{62, "machines that a queue takes for another job, and an autoscaler that starts them late", []string{
			"internal/pipeline.TestATrainingThatIsSentBackToTheQueue", "internal/rayjob/kuberay/explain.TestTrouble",
			"trainer/tests.test_machines_that_an_autoscaler_can_add_count",
			"trainer/tests/processes.test_the_number_of_workers_follows_the_machines",
		}},
		{63, "a kill while the parts of a large prediction are answered or written as lines, a damaged part, and a worker that is lost", []string{
			"trainer/tests/processes.test_a_prediction_of_many_rows_that_is_killed_delivers_the_same",
			"trainer/tests/processes.test_a_worker_that_is_killed_in_a_large_prediction_costs_one_part",
		}},
	}
}
